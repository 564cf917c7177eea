// SPDX-License-Identifier: GPL-3.0-or-later

/* Holds a power profile of power-profiles-daemon while recording.
 *
 * The service ends a hold when its holder leaves the bus, so that the profile is released even
 * if the recorder is killed. Only `performance` and `power-saver` can be held. `balanced` is
 * set as the active profile instead, and restored afterwards; if the recorder is killed, a
 * child process restores it. The same is done for every profile if the service does not support
 * holds. */

#include "record/clock.h"
#include "record/dbus/bus-address.h"
#include "record/dbus/bus.h"
#include "record/dbus/deferred-bus-message.h"
#include "record/instrument.h"
#include "record/recording-context.h"
#include "util/util.h"

#include <sysprof.h>

/* Hold the profile from the start of the recording if possible, but do not wait for a user who
 * is asked for a password. */
#define PREPARE_NSEC (2 * NSEC_PER_SEC)
#define STOP_NSEC    (1 * NSEC_PER_SEC)

/* The name of the service is also the name of its interface. */
typedef struct
{
  const char *name;
  const char *path;
} Service;

static const Service services[] = {
  { "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles" },
  { "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles" }, /* before version 0.20 */
};

static const char instrument_name[] = "Power Profile";

struct _SysprofPowerProfile
{
  SysprofInstrument parent_instance;
  char *id;

  /* Owned by the pump thread. */
  RecordingContext *context;
  Bus *bus;
  size_t service;
  uint32_t cookie;
  bool is_held;
  bool is_settled; /* held, set or failed */
  bool is_set;
  bool is_answered; /* the last request of the stop phase */
  char *address;    /* of the bus */
  char *holding;    /* unique bus name of the service that holds it for us; NULL = not held */
  char *before;     /* the profile that was active before; NULL = not requested */
  DeferredBusMessage *restore_message; /* the message that restores the profile */
};

SYSPROF_DEFINE_INSTRUMENT (SysprofPowerProfile, sysprof_power_profile)

enum
{
  PROP_0,
  PROP_ID,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
sysprof_power_profile_finalize (GObject *object)
{
  SysprofPowerProfile *self = SYSPROF_POWER_PROFILE (object);

  g_free (self->id);
  g_free (self->address);
  g_free (self->holding);
  g_free (self->before);
  G_OBJECT_CLASS (sysprof_power_profile_parent_class)->finalize (object);
}

static void
sysprof_power_profile_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_ID)
    g_value_set_string (value, SYSPROF_POWER_PROFILE (object)->id);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
sysprof_power_profile_set_property (GObject *object,
                                    guint id,
                                    const GValue *value,
                                    GParamSpec *pspec)
{
  if (id == PROP_ID)
    SYSPROF_POWER_PROFILE (object)->id = g_value_dup_string (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

/* --- the service --- */

static GDBusMessage *
new_call (SysprofPowerProfile *self, const char *interface, const char *method, GVariant *body)
{
  const Service *service = &services[self->service];
  GDBusMessage *call = g_dbus_message_new_method_call (
      service->name, service->path, interface != NULL ? interface : service->name, method);

  /* The service may have to ask the user in an authentication dialog. */
  g_dbus_message_set_flags (call, G_DBUS_MESSAGE_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION);
  g_dbus_message_set_body (call, body);
  return call;
}

static void
refused (SysprofPowerProfile *self, const GError *error)
{
  self->is_settled = true;
  sysprof_context_report (
      self->context, instrument_name, false,
      "The power profile '%s' is not active: %s. See 'powerprofilesctl list', or record "
      "without a power profile.",
      self->id, error->message);
}

/* --- setting --- */

static GDBusMessage *
new_set_call (SysprofPowerProfile *self, const char *profile)
{
  return new_call (self, "org.freedesktop.DBus.Properties", "Set",
                   g_variant_new ("(ssv)", services[self->service].name, "ActiveProfile",
                                  g_variant_new_string (profile)));
}

static void
ask_for_active (SysprofPowerProfile *self, BusReplyFunc answered)
{
  sysprof_bus_call (
      self->bus,
      new_call (self, "org.freedesktop.DBus.Properties", "Get",
                g_variant_new ("(ss)", services[self->service].name, "ActiveProfile")),
      -1, answered, self);
}

/* NULL if `reply` is invalid. *(full)* */
static char *
dup_active (GDBusMessage *reply)
{
  GVariant *body = reply != NULL ? g_dbus_message_get_body (reply) : NULL;
  g_autoptr (GVariant) value = NULL;

  if (body == NULL || !g_variant_is_of_type (body, G_VARIANT_TYPE ("(v)")))
    return NULL;
  g_variant_get (body, "(v)", &value);
  return g_variant_is_of_type (value, G_VARIANT_TYPE_STRING)
             ? g_variant_dup_string (value, NULL)
             : NULL;
}

static void
was_set (Bus *bus, GDBusMessage *reply, const GError *error, void *data)
{
  SysprofPowerProfile *self = data;

  self->is_set = self->is_settled = error == NULL;
  if (error == NULL)
    return;
  g_clear_pointer (&self->restore_message, sysprof_deferred_bus_message_cancel);
  refused (self, error);
}

static void
set_what_is_wanted (Bus *bus, GDBusMessage *reply, const GError *error, void *data)
{
  SysprofPowerProfile *self = data;
  g_autoptr (GDBusMessage) back = NULL;
  g_autoptr (GError) cause = NULL;

  self->before = dup_active (reply);
  if (error != NULL)
    {
      refused (self, error);
      return;
    }
  if (self->before == NULL || g_str_equal (self->before, self->id))
    {
      self->is_settled = true; /* the profile is already active */
      return;
    }

  back = new_set_call (self, self->before);
  self->restore_message = sysprof_deferred_bus_message_new (self->address, back, &cause);
  if (self->restore_message == NULL)
    refused (self, cause);
  else
    sysprof_bus_call (self->bus, new_set_call (self, self->id), -1, was_set, self);
}

/* --- holding --- */

static void hold (SysprofPowerProfile *self);

static void
answered (Bus *bus, GDBusMessage *reply, const GError *error, void *data)
{
  SysprofPowerProfile *self = data;
  GVariant *body = reply != NULL ? g_dbus_message_get_body (reply) : NULL;

  if (body != NULL && g_variant_is_of_type (body, G_VARIANT_TYPE ("(u)")))
    {
      g_variant_get (body, "(u)", &self->cookie);
      g_free (self->holding);
      self->holding = g_strdup (g_dbus_message_get_sender (reply));
      self->is_held = self->is_settled = true;
      return;
    }

  if ((g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_SERVICE_UNKNOWN) ||
       g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_NAME_HAS_NO_OWNER)) &&
      self->service + 1 < G_N_ELEMENTS (services))
    {
      self->service++;
      hold (self);
      return;
    }
  if (g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_UNKNOWN_METHOD) ||
      g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_INVALID_ARGS))
    ask_for_active (self, set_what_is_wanted);
  else if (error != NULL)
    refused (self, error);
  else
    {
      g_autoptr (GError) strange = g_error_new_literal (SYSPROF_ERROR, SYSPROF_ERROR_CORRUPT,
                                                        "the reply of the service is invalid");

      refused (self, strange);
    }
}

static void
hold (SysprofPowerProfile *self)
{
  sysprof_bus_call (
      self->bus,
      new_call (self, NULL, "HoldProfile",
                g_variant_new ("(sss)", self->id, "A recording is made", "org.gnome.Sysprof")),
      -1, answered, self);
}

static void
take_signal (Bus *bus, GDBusMessage *message, void *data)
{
  SysprofPowerProfile *self = data;
  GVariant *body = g_dbus_message_get_body (message);
  guint cookie = 0;

  if (!self->is_held || g_strcmp0 (g_dbus_message_get_sender (message), self->holding) != 0 ||
      g_strcmp0 (g_dbus_message_get_interface (message), services[self->service].name) != 0 ||
      g_strcmp0 (g_dbus_message_get_member (message), "ProfileReleased") != 0 || body == NULL ||
      !g_variant_is_of_type (body, G_VARIANT_TYPE ("(u)")))
    return;

  g_variant_get (body, "(u)", &cookie);
  if (cookie != self->cookie)
    return;
  self->is_held = false;
  if (self->context->end == 0)
    sysprof_context_report (self->context, instrument_name, false,
                            "The power profile '%s' is no longer active: another one was "
                            "selected. Keep the profile while recording.",
                            self->id);
}

static void
bus_closed (Bus *bus, const GError *error, void *data)
{
  SysprofPowerProfile *self = data;

  if (!self->is_settled)
    refused (self, error);
  else if (self->is_held && self->context->end == 0)
    sysprof_context_report (self->context, instrument_name, false,
                            "The power profile '%s' is no longer active: %s", self->id,
                            error->message);
  self->is_settled = true;
  self->is_held = false;
}

static const BusEvents bus_events = { .signal = take_signal, .closed = bus_closed };

/* --- the phases --- */

static bool
is_settled (const void *data)
{
  return ((const SysprofPowerProfile *) data)->is_settled;
}

static gboolean
sysprof_power_profile_prepare (SysprofInstrument *instrument,
                               RecordingContext *context,
                               GError **error)
{
  SysprofPowerProfile *self = SYSPROF_POWER_PROFILE (instrument);

  self->context = context;
  self->address = sysprof_bus_dup_address (G_BUS_TYPE_SYSTEM, error);
  if (self->address != NULL)
    self->bus = sysprof_bus_open (context, self->address, &bus_events, self, error);
  if (self->bus == NULL)
    {
      g_prefix_error (error, "The power profile '%s' is not active: ", self->id);
      return FALSE;
    }

  /* The signal is sent to our connection directly, so no match rule is needed. */
  hold (self);
  if (!sysprof_bus_wait (self->bus, sysprof_clock_now () + PREPARE_NSEC, is_settled, self))
    sysprof_context_report (
        context, instrument_name, false,
        "The power profile '%s' is not active yet: the service has not replied. It may be "
        "asking for a password; the profile becomes active when it replies.",
        self->id);
  return TRUE;
}

static void
was_set_back (Bus *bus, GDBusMessage *reply, const GError *error, void *data)
{
  SysprofPowerProfile *self = data;

  self->is_answered = true;
  if (error == NULL)
    g_clear_pointer (&self->restore_message, sysprof_deferred_bus_message_cancel);
}

static void
set_back (Bus *bus, GDBusMessage *reply, const GError *error, void *data)
{
  SysprofPowerProfile *self = data;
  g_autofree char *active = dup_active (reply);

  /* The user has chosen another profile in the meantime: keep it. */
  if (active != NULL && !g_str_equal (active, self->id))
    was_set_back (bus, reply, NULL, self);
  else if (error == NULL)
    sysprof_bus_call (bus, new_set_call (self, self->before), -1, was_set_back, self);
}

static bool
is_answered (const void *data)
{
  return ((const SysprofPowerProfile *) data)->is_answered;
}

static void
sysprof_power_profile_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofPowerProfile *self = SYSPROF_POWER_PROFILE (instrument);

  if (self->is_held)
    sysprof_bus_call (
        self->bus, new_call (self, NULL, "ReleaseProfile", g_variant_new ("(u)", self->cookie)),
        -1, NULL, NULL);
  if (self->is_set)
    {
      ask_for_active (self, set_back);
      (void) sysprof_bus_wait (self->bus, sysprof_clock_now () + STOP_NSEC, is_answered, self);
    }
  /* Restoring failed, or it is unknown whether the profile was set. */
  g_clear_pointer (&self->restore_message, sysprof_deferred_bus_message_send);
  sysprof_bus_detach (self->bus);
  g_clear_pointer (&self->bus, sysprof_bus_close);
}

static void
sysprof_power_profile_class_init (SysprofPowerProfileClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = sysprof_power_profile_finalize;
  object_class->get_property = sysprof_power_profile_get_property;
  object_class->set_property = sysprof_power_profile_set_property;
  klass->parent_class.name = instrument_name;
  klass->parent_class.prepare = sysprof_power_profile_prepare;
  klass->parent_class.stop = sysprof_power_profile_stop;

  properties[PROP_ID] =
      g_param_spec_string ("id", NULL, NULL, NULL,
                           G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_power_profile_init (SysprofPowerProfile *self)
{
}

SysprofInstrument *
sysprof_power_profile_new (const char *id)
{
  return g_object_new (SYSPROF_TYPE_POWER_PROFILE, "id", id, NULL);
}

const char *
sysprof_power_profile_get_id (SysprofPowerProfile *self)
{
  g_return_val_if_fail (SYSPROF_IS_POWER_PROFILE (self), NULL);

  return self->id;
}

static void
create_power_profile (const InstrumentSelection *selection, GPtrArray *instruments)
{
  const char *const *profiles =
      sysprof_instrument_selection_values (selection, "power-profile");
  const char *profile = "performance"; /* --no-throttle */

  for (; profiles != NULL && *profiles != NULL; profiles++)
    profile = *profiles;
  g_ptr_array_add (instruments, sysprof_power_profile_new (profile));
}

static const char *const profile_names[] = { "power-saver", "balanced", "performance", NULL };

const InstrumentRow sysprof_power_profile_row = {
  .options = { { "power-profile",
                 "Switch to this power profile while recording: power-saver, balanced, "
                 "performance",
                 .value = "PROFILE", .values = profile_names },
               { "no-throttle", "Deprecated; same as --power-profile=performance" } },
  .manual =
      "Switch to the power profile \\fBpower-saver\\fR, \\fBbalanced\\fR or \\fBperformance\\fR\n"
      "while recording. The previous profile returns when the recording ends, even if the\n"
      "recorder is killed. \\fB--no-throttle\\fR is a deprecated spelling of\n"
      "\\fB--power-profile=performance\\fR.",
  .create = create_power_profile,
};
