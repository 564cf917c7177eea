// SPDX-License-Identifier: GPL-3.0-or-later

/* Messages of a real bus, recorded: whole, in their order, with the time that a service took as it measured itself. */

#include "tests/record/dbus/private-bus.h"

#include <sys/socket.h>
#include <sys/un.h>

#define N_CALLS     5
#define N_SIGNALS   3000
#define WHOLE_BYTES 16000 /* of a body that fits a frame with its header */

static const char service_xml[] = "<node><interface name='org.example.Slow'>"
                                  "<method name='Wait'><arg type='u' direction='in'/></method>"
                                  "<method name='Take'><arg type='h' direction='in'/></method>"
                                  "</interface></node>";

typedef struct
{
  PrivateBus bus;
  SysprofRecording *recording;
  gint64 sent[N_CALLS]; /* ns, by the caller */
  gint64 took[N_CALLS]; /* ns, as the service measured */
  gint64 came[N_CALLS];
  guint n_answered;
} Fixture;

typedef struct
{
  Fixture *fixture;
  GDBusMethodInvocation *invocation;
  guint call;
} Answer;

static gint64
now (void)
{
  return SYSPROF_CAPTURE_CURRENT_TIME;
}

static gboolean
answer (gpointer data)
{
  Answer *self = data;

  self->fixture->took[self->call] = now () - self->fixture->came[self->call];
  g_dbus_method_invocation_return_value (self->invocation, NULL);
  g_free (self);
  return G_SOURCE_REMOVE;
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
  Answer *self;

  if (!g_str_equal (method, "Wait"))
    {
      g_dbus_method_invocation_return_value (invocation, NULL);
      return;
    }

  self = g_new0 (Answer, 1);
  *self = (Answer){ .fixture = data, .invocation = invocation };
  g_variant_get (parameters, "(u)", &self->call);
  self->fixture->came[self->call] = now ();
  g_timeout_add (20 + 40 * self->call, answer, self);
}

static void
answered (GObject *object, GAsyncResult *result, gpointer data)
{
  Fixture *self = data;
  g_autoptr (GError) error = NULL;
  GVariant *reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (object), result, &error);

  g_assert_no_error (error);
  g_variant_unref (reply);
  if (++self->n_answered == N_CALLS)
    request_stop (self->recording);
}

static void
emit_bytes (GDBusConnection *connection, const char *member, gsize size)
{
  g_autofree guint8 *bytes = g_malloc (size);
  GVariant *body;
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8) (i * 7);
  body = g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, bytes, size, 1);
  g_dbus_connection_emit_signal (connection, NULL, "/org/example", "org.example.Large", member,
                                 g_variant_new_tuple (&body, 1), &error);
  g_assert_no_error (error);
}

static void
talk (SysprofRecording *recording, gpointer data)
{
  Fixture *self = data;
  g_autoptr (GDBusMessage) message =
      g_dbus_message_new_method_call (g_dbus_connection_get_unique_name (self->bus.connection),
                                      "/org/example", "org.example.Slow", "Take");
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();

  self->recording = recording;
  emit_bytes (self->bus.connection, "Whole", WHOLE_BYTES);
  emit_bytes (self->bus.connection, "TooLarge", 16384);
  emit_bytes (self->bus.connection, "MuchTooLarge", 3000000);
  for (guint i = 0; i < N_SIGNALS; i++)
    g_dbus_connection_emit_signal (self->bus.connection, NULL, "/org/example",
                                   "org.example.Many", "Flood", g_variant_new ("(u)", i), NULL);

  g_assert_cmpint (g_unix_fd_list_append (fds, 0, NULL), ==, 0);
  g_dbus_message_set_unix_fd_list (message, fds);
  g_dbus_message_set_body (message, g_variant_new ("(h)", 0));
  g_assert_true (g_dbus_connection_send_message (self->bus.connection, message,
                                                 G_DBUS_SEND_MESSAGE_FLAGS_NONE, NULL, NULL));

  for (guint i = 0; i < N_CALLS; i++)
    {
      self->sent[i] = now ();
      g_dbus_connection_call (
          self->bus.connection, g_dbus_connection_get_unique_name (self->bus.connection),
          "/org/example", "org.example.Slow", "Wait", g_variant_new ("(u)", i), NULL,
          G_DBUS_CALL_FLAGS_NONE, -1, NULL, answered, self);
    }
}

typedef struct
{
  guint n_flood;
  guint n_too_large;
  guint n_takes;
  gint64 called[N_CALLS]; /* ns */
  guint serials[N_CALLS];
  gboolean is_answered[N_CALLS];
  gint64 took[N_CALLS]; /* 0 if a busy machine let the call and its answer be read at once */
} Seen;

static void
look_at (const SysprofCaptureDBusMessage *frame, Seen *seen)
{
  g_autoptr (GDBusMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  const char *member;
  guint number;

  g_assert_cmpint (frame->frame.len, <=, 16384);
  g_assert_cmpint (frame->bus_type, ==, G_BUS_TYPE_SESSION);
  if (frame->flags & SYSPROF_CAPTURE_DBUS_FLAGS_MESSAGE_TOO_LARGE)
    {
      g_assert_cmpint (frame->message_len, ==, 0);
      seen->n_too_large++;
      return;
    }

  message = g_dbus_message_new_from_blob ((guchar *) frame->message, frame->message_len,
                                          G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, &error);
  g_assert_no_error (error);
  member = g_dbus_message_get_member (message);
  if (g_strcmp0 (member, "Flood") == 0)
    {
      g_variant_get (g_dbus_message_get_body (message), "(u)", &number);
      g_assert_cmpuint (number, ==, seen->n_flood++);
    }
  else if (g_strcmp0 (member, "Whole") == 0)
    {
      g_autoptr (GVariant) array =
          g_variant_get_child_value (g_dbus_message_get_body (message), 0);
      gsize size;
      const guint8 *bytes = g_variant_get_fixed_array (array, &size, 1);

      g_assert_cmpuint (size, ==, WHOLE_BYTES);
      for (gsize i = 0; i < size; i++)
        g_assert_cmpuint (bytes[i], ==, (guint8) (i * 7));
    }
  else if (g_strcmp0 (member, "Take") == 0)
    seen->n_takes++;
  else if (g_strcmp0 (member, "Wait") == 0)
    {
      g_variant_get (g_dbus_message_get_body (message), "(u)", &number);
      seen->called[number] = frame->frame.time;
      seen->serials[number] = g_dbus_message_get_serial (message);
    }
  else if (g_dbus_message_get_message_type (message) == G_DBUS_MESSAGE_TYPE_METHOD_RETURN)
    for (guint i = 0; i < N_CALLS; i++)
      if (seen->serials[i] != 0 &&
          seen->serials[i] == g_dbus_message_get_reply_serial (message))
        {
          seen->is_answered[i] = TRUE;
          seen->took[i] = frame->frame.time - seen->called[i];
        }
}

/* The recorded times of calls and answers. The monitor reads a message after it was sent, so a recorded time is never earlier than
 * the sender's own clock at that moment; how much later it is depends on what else the machine does. */
static void
test_records_what_is_said (void)
{
  static const GDBusInterfaceVTable table = { .method_call = called };
  Fixture fixture = { 0 };
  Recorded recorded = { .began = talk, .data = &fixture };
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  int fd = new_memory_file ();
  SysprofCaptureReader *reader;
  SysprofCaptureFrame frame;
  Seen seen = { 0 };
  gboolean is_late = FALSE;
  gint64 ended;

  if (!private_bus_start (&fixture.bus))
    return;
  (void) serve (&fixture.bus, "/org/example", service_xml, &table, &fixture);
  sysprof_profiler_add_instrument (profiler, sysprof_dbus_monitor_new (G_BUS_TYPE_SESSION));
  sysprof_profiler_add_instrument (profiler, sysprof_memory_usage_new ());
  record_and_wait (&recorded, profiler, new_writer_for (fd));
  g_assert_no_error (recorded.error);
  ended = now ();

  reader = new_reader_for (fd);
  while (sysprof_capture_reader_peek_frame (reader, &frame))
    {
      /* Readers of version 3.46 stop at the first of them. */
      is_late |= frame.type == SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE;
      if (frame.type == SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE)
        look_at (sysprof_capture_reader_read_dbus_message (reader), &seen);
      else
        {
          g_assert_false (is_late);
          g_assert_true (sysprof_capture_reader_skip (reader));
        }
    }
  sysprof_capture_reader_unref (reader);

  g_assert_cmpuint (seen.n_flood, ==, N_SIGNALS);
  g_assert_cmpuint (seen.n_too_large, ==, 2);
  g_assert_cmpuint (seen.n_takes, ==, 1);
  for (guint i = 0; i < N_CALLS; i++)
    {
      g_assert_true (seen.is_answered[i]);
      g_assert_cmpint (seen.took[i], >=, 0);
      g_assert_cmpint (seen.called[i], >=, fixture.sent[i]);
      g_assert_cmpint (seen.called[i] + seen.took[i], >=, fixture.came[i] + fixture.took[i]);
      g_assert_cmpint (seen.called[i] + seen.took[i], <=, ended);
    }

  recorded_clear (&recorded);
  (void) close (fd);
  private_bus_stop (&fixture.bus);
}

/* --- a bus that goes away, and what is no bus --- */

static void
take_bus_down (SysprofRecording *recording, gpointer data)
{
  g_test_dbus_stop (((PrivateBus *) data)->bus);
}

static gboolean
stop_when_told (gpointer data)
{
  Recorded *recorded = data;

  if (recorded->recording == NULL || !recorded_has_told (recorded, "has closed the connection"))
    return G_SOURCE_CONTINUE;
  request_stop (recorded->recording);
  return G_SOURCE_REMOVE;
}

static void
test_goes_on_without_bus (void)
{
  PrivateBus bus = { 0 };
  Recorded recorded = { .began = take_bus_down, .data = &bus };
  int fd;
  SysprofCaptureReader *reader;

  if (!private_bus_start (&bus))
    return;
  g_dbus_connection_set_exit_on_close (bus.connection, FALSE);
  g_timeout_add (10, stop_when_told, &recorded);
  fd = record_instrument (&recorded, sysprof_dbus_monitor_new (G_BUS_TYPE_SYSTEM));
  g_assert_true (recorded_has_told (&recorded, "recording of the system bus ended"));

  reader = new_reader_for (fd);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_METADATA, 0), >, 0);
  sysprof_capture_reader_unref (reader);
  recorded_clear (&recorded);
  (void) close (fd);
  g_clear_object (&bus.connection);
  g_clear_object (&bus.bus);
}

typedef struct
{
  const char *says; /* NULL = nothing, ever */
  const char *told; /* by a diagnostic */
} Stranger;

/* Clients that send nothing are waited for, for two seconds. */
static void
test_bears_what_is_no_bus (gconstpointer data)
{
  const Stranger *stranger = data;
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = new_memory_file ();
  SysprofCaptureWriter *writer = new_writer_for (fd);
  int listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_autofree char *folder = g_dir_make_tmp ("sysprof-bus-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "bus", NULL);
  g_autofree char *name = g_strconcat ("unix:path=", path, NULL);
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  Recorded recorded = { 0 };
  int accepted = -1;

  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  g_assert_cmpint (bind (listener, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (listener, 5), ==, 0);
  sysprof_profiler_add_instrument (profiler, sysprof_dbus_monitor_new_for_bus_address (name));
  sysprof_spawnable_append_argv (spawnable, "true");
  sysprof_profiler_set_spawnable (profiler, spawnable);

  sysprof_profiler_record_async (profiler, writer, NULL, recording_began, &recorded);
  sysprof_capture_writer_unref (writer);
  if (stranger->says != NULL)
    {
      accepted = accept4 (listener, NULL, NULL, SOCK_CLOEXEC);
      g_assert_cmpint (write (accepted, stranger->says, strlen (stranger->says)), >, 0);
    }
  while (!recorded.ended)
    g_main_context_iteration (NULL, TRUE);
  g_assert_no_error (recorded.error);
  g_assert_true (recorded_has_told (&recorded, stranger->told));

  recorded_clear (&recorded);
  (void) close (fd);
  (void) close (listener);
  if (accepted >= 0)
    (void) close (accepted);
  (void) unlink (path);
  (void) rmdir (folder);
}

static void
test_tells_where_there_is_none (void)
{
  static const struct
  {
    const char *address;
    const char *told;
  } cases[] = {
    { "unix:path=/nonexistent/bus", "No bus is running there" },
    { "unix:path=", "cannot reach" },
    { "nonsense", "the address is not supported" },
    { "", "the address is not supported" },
    { "tcp:host=nowhere.invalid,port=1", "cannot reach" },
    { "unix:abstract=sysprof-test-no-server-here;nonsense:", "the address is not supported" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    check_told (sysprof_dbus_monitor_new_for_bus_address (cases[i].address), cases[i].told);
}

int
main (int argc, char **argv)
{
  static const Stranger silent = { NULL, "the bus has not replied" };
  static const Stranger refuses = { "REJECTED DBUS_COOKIE_SHA1\r\n", "rejects this user" };
  static const Stranger babbles = {
    "OK 1234\r\nAGREE_UNIX_FD\r\nHTTP/1.0 200 this is not what a bus says\r\n",
    "an invalid D-Bus message"
  };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/dbus-monitor/records-what-is-said", test_records_what_is_said);
  g_test_add_func ("/record/dbus-monitor/goes-on-without-bus", test_goes_on_without_bus);
  g_test_add_data_func ("/record/dbus-monitor/bears-silence", &silent,
                        test_bears_what_is_no_bus);
  g_test_add_data_func ("/record/dbus-monitor/bears-refusal", &refuses,
                        test_bears_what_is_no_bus);
  g_test_add_data_func ("/record/dbus-monitor/bears-babble", &babbles,
                        test_bears_what_is_no_bus);
  g_test_add_func ("/record/dbus-monitor/tells-where-there-is-none",
                   test_tells_where_there_is_none);
  return g_test_run ();
}
