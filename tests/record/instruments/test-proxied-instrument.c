// SPDX-License-Identifier: GPL-3.0-or-later

/* A service that writes a capture of its own, as GNOME Shell does, on a bus of the test. Its
 * capture becomes part of ours. A service that refuses, disappears, writes invalid data or
 * never replies to Stop affects only its own data. */

#include "tests/record/dbus/private-bus.h"

#define PEER "org.example.Profiled"

typedef enum
{
  PEER_IS_GOOD,
  PEER_REFUSES,
  PEER_NEVER_STOPS,
  PEER_LEAVES,
  PEER_WRITES_RUBBISH,
  PEER_WRITES_NOTHING,
} Manner;

typedef struct
{
  PrivateBus bus;
  Manner manner;
  int fd;
  gint64 option;                     /* that Start got */
  GDBusMethodInvocation *unanswered; /* Stop */
  SysprofRecording *recording;
} Peer;

static const char peer_xml[] =
    "<node><interface name='org.gnome.Sysprof3.Profiler'>"
    "<property name='Capabilities' type='a{sv}' access='read'/>"
    "<method name='Start'><arg type='a{sv}' direction='in'/><arg type='h' direction='in'/></method>"
    "<method name='Stop'/></interface></node>";

static void
write_capture (Peer *self)
{
  SysprofCaptureWriter *writer =
      sysprof_capture_writer_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3), 0);
  unsigned id = sysprof_capture_writer_request_counter (writer, 1);
  SysprofCaptureCounter counter = { .category = "mutter",
                                    .name = "RedrawDamageArea",
                                    .id = id & 0xffffff };
  SysprofCaptureCounterValue value = { .v64 = 42 };

  sysprof_capture_writer_define_counters (writer, SYSPROF_CAPTURE_CURRENT_TIME, -1, -1,
                                          &counter, 1);
  sysprof_capture_writer_set_counters (writer, SYSPROF_CAPTURE_CURRENT_TIME, -1, -1, &id,
                                       &value, 1);
  sysprof_capture_writer_add_mark (writer, SYSPROF_CAPTURE_CURRENT_TIME, -1, 4711, 1000,
                                   "Compositor", "Clutter::FrameClock::dispatch()", "stage");
  g_assert_true (sysprof_capture_writer_flush (writer));
  sysprof_capture_writer_unref (writer);
}

static void
start (Peer *self, GVariant *parameters, GDBusMethodInvocation *invocation)
{
  GUnixFDList *fds =
      g_dbus_message_get_unix_fd_list (g_dbus_method_invocation_get_message (invocation));
  g_autoptr (GVariant) options = g_variant_get_child_value (parameters, 0);

  if (self->manner == PEER_REFUSES)
    {
      g_dbus_method_invocation_return_error_literal (
          invocation, G_DBUS_ERROR, G_DBUS_ERROR_FAILED, "Profiler already running");
      return;
    }

  (void) g_variant_lookup (options, "frequency", "x", &self->option);
  g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, 1);
  self->fd = g_unix_fd_list_get (fds, 0, NULL);
  g_assert_cmpint (self->fd, >=, 0);
  if (self->manner == PEER_NEVER_STOPS || self->manner == PEER_LEAVES)
    write_capture (self);
  if (self->manner == PEER_WRITES_RUBBISH)
    g_assert_cmpint (write (self->fd, "rubbish", 7), ==, 7);
  g_dbus_method_invocation_return_value (invocation, NULL);
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
  Peer *self = data;

  if (g_str_equal (method, "Start"))
    {
      start (self, parameters, invocation);
      return;
    }

  if (self->manner == PEER_NEVER_STOPS)
    {
      self->unanswered = invocation;
      return;
    }
  if (self->manner == PEER_IS_GOOD)
    write_capture (self);
  g_dbus_method_invocation_return_value (invocation, NULL);
}

static void
began (SysprofRecording *recording, gpointer data)
{
  Peer *self = data;

  if (self->manner == PEER_LEAVES)
    {
      g_autoptr (GVariant) reply = g_dbus_connection_call_sync (
          self->bus.connection, "org.freedesktop.DBus", "/org/freedesktop/DBus",
          "org.freedesktop.DBus", "ReleaseName", g_variant_new ("(s)", PEER), NULL,
          G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL);

      g_assert_nonnull (reply);
    }
  request_stop_soon (recording, NULL);
}

static void
check_what_was_joined (int fd, guint n_expected)
{
  SysprofCaptureReader *reader = new_reader_for (fd);
  SysprofCaptureFrame frame;
  guint n_marks = 0, n_counters = 0;

  while (sysprof_capture_reader_peek_frame (reader, &frame))
    if (frame.type == SYSPROF_CAPTURE_FRAME_MARK)
      {
        const SysprofCaptureMark *mark = sysprof_capture_reader_read_mark (reader);

        g_assert_cmpstr (mark->group, ==, "Compositor");
        g_assert_cmpstr (mark->name, ==, "Clutter::FrameClock::dispatch()");
        g_assert_cmpint (mark->duration, ==, 1000);
        n_marks++;
      }
    else if (frame.type == SYSPROF_CAPTURE_FRAME_CTRDEF)
      {
        const SysprofCaptureCounterDefine *define =
            sysprof_capture_reader_read_counter_define (reader);

        for (guint i = 0; i < define->n_counters; i++)
          n_counters += g_str_equal (define->counters[i].category, "mutter");
      }
    else
      g_assert_true (sysprof_capture_reader_skip (reader));
  g_assert_cmpuint (n_marks, ==, n_expected);
  g_assert_cmpuint (n_counters, ==, n_expected);
  sysprof_capture_reader_unref (reader);
}

typedef struct
{
  Manner manner;
  const char *told; /* NULL = nothing */
  guint n_marks;
} Case;

static void
test_peer (gconstpointer data)
{
  static const GDBusInterfaceVTable table = { .method_call = called };
  const Case *c = data;
  Peer peer = { .manner = c->manner, .fd = -1 };
  Recorded recorded = { .began = began, .data = &peer };
  g_autoptr (GListModel) diagnostics = NULL;
  GVariantDict options;
  int fd;

  if (!private_bus_start (&peer.bus))
    return;
  (void) serve (&peer.bus, "/org/gnome/Sysprof3/Profiler", peer_xml, &table, &peer);
  own_name (&peer.bus, PEER);
  g_variant_dict_init (&options, NULL);
  g_variant_dict_insert (&options, "frequency", "x", G_GINT64_CONSTANT (99));
  fd = record_instrument (
      &recorded, sysprof_proxied_instrument_new_with_options (G_BUS_TYPE_SESSION, PEER,
                                                              "/org/gnome/Sysprof3/Profiler",
                                                              g_variant_dict_end (&options)));

  diagnostics = sysprof_recording_list_diagnostics (recorded.recording);
  g_assert_cmpuint (g_list_model_get_n_items (diagnostics), ==, c->told != NULL);
  if (c->told != NULL)
    g_assert_true (recorded_has_told (&recorded, c->told));
  g_assert_cmpint (peer.option, ==, c->manner == PEER_REFUSES ? 0 : 99);
  check_what_was_joined (fd, c->n_marks);

  recorded_clear (&recorded);
  (void) close (fd);
  if (peer.fd >= 0)
    (void) close (peer.fd);
  g_clear_object (&peer.unanswered);
  private_bus_stop (&peer.bus);
}

static void
test_tells_where_nobody_is (void)
{
  static const struct
  {
    const char *name;
    const char *path;
    const char *told;
  } cases[] = {
    { "org.gnome.Shell", "/org/gnome/Sysprof3/Profiler", "'org.gnome.Shell' is not recorded" },
    { "not a name", "/", "not a valid D-Bus object" },
    { "org.example", "not a path", "not a valid D-Bus object" },
  };
  PrivateBus bus = { 0 };

  if (!private_bus_start (&bus))
    return;
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    check_told (
        sysprof_proxied_instrument_new (G_BUS_TYPE_SESSION, cases[i].name, cases[i].path),
        cases[i].told);
  private_bus_stop (&bus);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    Case c;
  } cases[] = {
    { "/record/proxied/joins-what-it-wrote", { PEER_IS_GOOD, NULL, 1 } },
    { "/record/proxied/that-refuses", { PEER_REFUSES, "Profiler already running", 0 } },
    { "/record/proxied/that-never-stops", { PEER_NEVER_STOPS, "has not replied to", 1 } },
    { "/record/proxied/that-leaves", { PEER_LEAVES, "disappeared", 1 } },
    { "/record/proxied/that-writes-rubbish", { PEER_WRITES_RUBBISH, "not a capture", 0 } },
    { "/record/proxied/that-writes-nothing", { PEER_WRITES_NOTHING, NULL, 0 } },
  };

  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    g_test_add_data_func (cases[i].name, &cases[i].c, test_peer);
  g_test_add_func ("/record/proxied/reports-missing-service", test_tells_where_nobody_is);
  return g_test_run ();
}
