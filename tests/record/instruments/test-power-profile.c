// SPDX-License-Identifier: GPL-3.0-or-later

/* A power profile is held for as long as a recording, and given back whatever ends it. The service is ours, on a bus of the
 * test's own, and does what power-profiles-daemon does: a hold ends with ReleaseProfile, or when its holder leaves. */

#include "tests/record/dbus/private-bus.h"

#include <signal.h>
#include <sys/wait.h>

#define HOLD_FOREVER "--hold-forever" /* of this program, with a profile: to be killed */

typedef struct
{
  PrivateBus bus;
  GDBusMethodInvocation *unanswered; /* a call that is never answered */
  const char *interface;
  gboolean refuses;
  gboolean is_silent;
  gboolean takes_away;
  gboolean knows_no_holds;
  char *active;
  guint n_set;
  char *held; /* the profile */
  char *holder;
  guint n_holds;
  guint n_releases;
  guint watch;
} Service;

static void
release (Service *self)
{
  g_clear_pointer (&self->held, g_free);
  g_clear_pointer (&self->holder, g_free);
  if (self->watch != 0)
    g_bus_unwatch_name (self->watch);
  self->watch = 0;
  self->n_releases++;
}

static void
holder_has_gone (GDBusConnection *connection, const char *name, gpointer data)
{
  release (data);
}

static void
called (GDBusConnection *connection,
        const char *sender,
        const char *path,
        const char *interface,
        const char *method,
        GVariant *parameters,
        GDBusMethodInvocation *invocation,
        gpointer data)
{
  Service *self = data;
  const char *profile, *reason, *application;

  if (g_str_equal (method, "ReleaseProfile"))
    {
      guint cookie;

      g_variant_get (parameters, "(u)", &cookie);
      g_assert_cmpuint (cookie, ==, 7);
      g_assert_cmpstr (sender, ==, self->holder);
      release (self);
      g_dbus_method_invocation_return_value (invocation, NULL);
      return;
    }

  g_variant_get (parameters, "(&s&s&s)", &profile, &reason, &application);
  g_assert_cmpstr (application, ==, "org.gnome.Sysprof");
  g_assert_cmpstr (reason, !=, "");
  if (self->is_silent)
    {
      self->unanswered = invocation;
      return;
    }
  if (self->refuses)
    {
      g_dbus_method_invocation_return_error_literal (
          invocation, G_DBUS_ERROR, G_DBUS_ERROR_ACCESS_DENIED, "Not Authorized: testing");
      return;
    }
  if (self->knows_no_holds || g_str_equal (profile, "balanced"))
    {
      /* The properties of power-profiles-daemon for a profile that no client holds. */
      g_dbus_method_invocation_return_error_literal (
          invocation, G_DBUS_ERROR,
          self->knows_no_holds ? G_DBUS_ERROR_UNKNOWN_METHOD : G_DBUS_ERROR_INVALID_ARGS,
          "Only profiles 'performance' and 'power-saver' can be a hold profile");
      return;
    }
  self->n_holds++;
  self->held = g_strdup (profile);
  self->holder = g_strdup (sender);
  self->watch = g_bus_watch_name_on_connection (
      connection, sender, G_BUS_NAME_WATCHER_FLAGS_NONE, NULL, holder_has_gone, self, NULL);
  g_dbus_method_invocation_return_value (invocation, g_variant_new ("(u)", 7));
  if (self->takes_away)
    {
      g_dbus_connection_emit_signal (connection, sender, path, interface, "ProfileReleased",
                                     g_variant_new ("(u)", 7), NULL);
      release (self);
    }
}

static GVariant *
get_property (GDBusConnection *connection,
              const char *sender,
              const char *path,
              const char *interface,
              const char *name,
              GError **error,
              gpointer data)
{
  return g_variant_new_string (((Service *) data)->active);
}

static gboolean
set_property (GDBusConnection *connection,
              const char *sender,
              const char *path,
              const char *interface,
              const char *name,
              GVariant *value,
              GError **error,
              gpointer data)
{
  Service *self = data;

  self->n_set++;
  g_free (self->active);
  self->active = g_variant_dup_string (value, NULL);
  return TRUE;
}

static gboolean
start_service (Service *self)
{
  static const GDBusInterfaceVTable table = { .method_call = called,
                                              .get_property = get_property,
                                              .set_property = set_property };
  g_autofree char *path = g_strconcat ("/", self->interface, NULL);
  g_autofree char *xml =
      g_strdup_printf ("<node><interface name='%s'><method name='HoldProfile'>"
                       "<arg type='s' direction='in'/><arg type='s' direction='in'/>"
                       "<arg type='s' direction='in'/><arg type='u' direction='out'/></method>"
                       "<method name='ReleaseProfile'><arg type='u' direction='in'/></method>"
                       "<property name='ActiveProfile' type='s' access='readwrite'/>"
                       "</interface></node>",
                       self->interface);

  if (!private_bus_start (&self->bus))
    return FALSE;
  if (self->active == NULL)
    self->active = g_strdup ("balanced");
  g_strdelimit (path, ".", '/');
  (void) serve (&self->bus, path, xml, &table, self);
  own_name (&self->bus, self->interface);
  return TRUE;
}

static void
stop_service (Service *self)
{
  g_clear_object (&self->unanswered);
  if (self->watch != 0)
    release (self);
  g_clear_pointer (&self->active, g_free);
  private_bus_stop (&self->bus);
}

static void
record_profile (Recorded *recorded, const char *profile)
{
  recorded->began = request_stop_soon;
  (void) close (record_instrument (recorded, sysprof_power_profile_new (profile)));
}

static void
wait_for_release (Service *self)
{
  while (self->n_releases == 0)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_holds_and_gives_back (gconstpointer interface)
{
  Service service = { .interface = interface };
  Recorded recorded = { 0 };

  if (!start_service (&service))
    return;
  record_profile (&recorded, "performance");
  wait_for_release (&service);
  g_assert_cmpuint (service.n_holds, ==, 1);
  g_assert_cmpuint (service.n_releases, ==, 1);
  g_assert_false (recorded_has_told (&recorded, "is not active"));
  recorded_clear (&recorded);
  stop_service (&service);
}

/* In a process of its own, that does so until it is killed. */
static GPid
hold_elsewhere (const char *profile)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  const char *argv[] = { self, HOLD_FOREVER, profile, NULL };
  g_autoptr (GError) error = NULL;
  GPid pid;

  g_spawn_async (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid,
                 &error);
  g_assert_no_error (error);
  return pid;
}

static void
test_gives_back_when_killed (void)
{
  Service service = { .interface = "org.freedesktop.UPower.PowerProfiles" };
  GPid pid;

  if (!start_service (&service))
    return;
  pid = hold_elsewhere ("power-saver");
  while (service.held == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (service.held, ==, "power-saver");
  g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
  wait_for_release (&service);
  g_assert_cmpint (waitpid (pid, NULL, 0), ==, pid);
  stop_service (&service);
}

/* `balanced` cannot be held, and no profile where the service is too old: then it is set, and set back. */
static void
test_sets_and_sets_back (void)
{
  static const struct
  {
    const char *wanted;
    const char *before;
    gboolean knows_no_holds;
    guint n_set;
  } cases[] = {
    { "balanced", "power-saver", FALSE, 2 },
    { "balanced", "balanced", FALSE, 0 },
    { "performance", "balanced", TRUE, 2 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Service service = { .interface = "net.hadess.PowerProfiles",
                          .knows_no_holds = cases[i].knows_no_holds,
                          .active = g_strdup (cases[i].before) };
      Recorded recorded = { 0 };

      if (!start_service (&service))
        return;
      record_profile (&recorded, cases[i].wanted);
      g_assert_false (recorded_has_told (&recorded, "active"));
      g_assert_cmpuint (service.n_set, ==, cases[i].n_set);
      g_assert_cmpstr (service.active, ==, cases[i].before);
      recorded_clear (&recorded);
      stop_service (&service);
    }
}

static void
test_sets_back_when_killed (void)
{
  Service service = { .interface = "org.freedesktop.UPower.PowerProfiles",
                      .active = g_strdup ("performance") };
  GPid pid;

  if (!start_service (&service))
    return;
  pid = hold_elsewhere ("balanced");
  while (service.n_set < 1)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (service.active, ==, "balanced");
  g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
  while (service.n_set < 2)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (service.active, ==, "performance");
  g_assert_cmpint (waitpid (pid, NULL, 0), ==, pid);
  stop_service (&service);
}

static void
test_tells_what_went_wrong (void)
{
  static const struct
  {
    Service service;
    const char *told;
  } cases[] = {
    { { .interface = "net.hadess.PowerProfiles", .refuses = TRUE }, "Not Authorized: testing" },
    { { .interface = "org.example.Nothing" }, "is not active" },
    { { .interface = "net.hadess.PowerProfiles", .takes_away = TRUE }, "is no longer active" },
    { { .interface = "net.hadess.PowerProfiles", .is_silent = TRUE }, "has not replied" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Service service = cases[i].service;

      if (!start_service (&service))
        return;
      check_told (sysprof_power_profile_new ("performance"), cases[i].told);
      stop_service (&service);
    }
}

static int
hold_forever (const char *profile)
{
  Recorded recorded = { 0 };

  (void) record_instrument (&recorded, sysprof_power_profile_new (profile));
  return 1;
}

int
main (int argc, char **argv)
{
  if (argc > 2 && g_str_equal (argv[1], HOLD_FOREVER))
    return hold_forever (argv[2]);

  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/record/power-profile/holds-and-gives-back",
                        "org.freedesktop.UPower.PowerProfiles", test_holds_and_gives_back);
  g_test_add_data_func ("/record/power-profile/older-service", "net.hadess.PowerProfiles",
                        test_holds_and_gives_back);
  g_test_add_func ("/record/power-profile/gives-back-when-killed", test_gives_back_when_killed);
  g_test_add_func ("/record/power-profile/sets-and-sets-back", test_sets_and_sets_back);
  g_test_add_func ("/record/power-profile/sets-back-when-killed", test_sets_back_when_killed);
  g_test_add_func ("/record/power-profile/tells-what-went-wrong", test_tells_what_went_wrong);
  return g_test_run ();
}
