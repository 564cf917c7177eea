// SPDX-License-Identifier: GPL-3.0-or-later

/* A connection to a bus that sends unexpected messages. The bus is part of the test: it assigns
 * a name, and replies as the test requires. The instrument that holds a power profile is the
 * client. */

#include "private-bus.h"
#include "record/dbus/bus-address.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define OUR_NAME "1.7"
#define SERVICE  "1.5"
#define ANOTHER  "1.6"
#define DRIVER   "org.freedesktop.DBus"
#define PROFILES "org.freedesktop.UPower.PowerProfiles"

typedef enum
{
  BUS_IS_GOOD,
  BUS_HAS_A_LIAR,      /* who answers before the service does */
  BUS_TELLS_OF_OTHERS, /* what another one is answered */
  BUS_ANSWERS_STRANGELY,
  BUS_HAS_A_RELEASER, /* who is not the service, and then the service */
  BUS_BREAKS,         /* cannot send to the bus any more */
} Manner;

typedef struct
{
  Manner manner;
  GDBusServer *server;
  GDBusConnection *connection;
} FakeBus;

/* From then on what we send is refused: atomic. */
static int is_broken;

ssize_t sendmsg (int fd, const struct msghdr *message, int flags);

ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
  /* Of all that is sent here, only our connection never waits. */
  if (__atomic_load_n (&is_broken, __ATOMIC_ACQUIRE) && (flags & MSG_DONTWAIT) != 0)
    {
      errno = EPERM;
      return -1;
    }
  return syscall (SYS_sendmsg, fd, message, flags);
}

static void
send_to (GDBusConnection *connection, GDBusMessage *message, const char *sender, const char *to)
{
  g_dbus_message_set_sender (message, sender);
  g_dbus_message_set_destination (message, to);
  g_assert_true (g_dbus_connection_send_message (connection, message,
                                                 G_DBUS_SEND_MESSAGE_FLAGS_NONE, NULL, NULL));
  g_object_unref (message);
}

static void
answer (GDBusConnection *connection,
        GDBusMessage *call,
        const char *sender,
        const char *to,
        GVariant *body)
{
  GDBusMessage *reply = g_dbus_message_new_method_reply (call);

  g_dbus_message_set_body (reply, body);
  send_to (connection, reply, sender, to);
}

static void
release (GDBusConnection *connection, const char *sender)
{
  GDBusMessage *signal = g_dbus_message_new_signal ("/org/freedesktop/UPower/PowerProfiles",
                                                    PROFILES, "ProfileReleased");

  g_dbus_message_set_body (signal, g_variant_new ("(u)", 7));
  send_to (connection, signal, sender, ":" OUR_NAME);
}

static void
hold (FakeBus *self, GDBusConnection *connection, GDBusMessage *call)
{
  GDBusMessage *lie = g_dbus_message_new_method_error_literal (
      call, "org.freedesktop.DBus.Error.AccessDenied", "a lie");

  if (self->manner == BUS_HAS_A_LIAR)
    send_to (connection, g_object_ref (lie), NULL, ":" OUR_NAME);
  if (self->manner == BUS_TELLS_OF_OTHERS)
    send_to (connection, g_object_ref (lie), ":" SERVICE, ":" ANOTHER);
  g_object_unref (lie);

  if (self->manner == BUS_ANSWERS_STRANGELY)
    answer (connection, call, ":" SERVICE, ":" OUR_NAME, g_variant_new ("(s)", "seven"));
  else
    answer (connection, call, ":" SERVICE, ":" OUR_NAME, g_variant_new ("(u)", 7));
  if (self->manner == BUS_HAS_A_RELEASER)
    release (connection, ":" ANOTHER);
}

/* On GLib's thread. */
static GDBusMessage *
take (GDBusConnection *connection, GDBusMessage *message, gboolean incoming, gpointer data)
{
  FakeBus *self = data;
  const char *member = g_dbus_message_get_member (message);

  if (!incoming || g_dbus_message_get_message_type (message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL)
    return message;

  if (g_str_equal (member, "Hello"))
    {
      if (self->manner == BUS_BREAKS)
        __atomic_store_n (&is_broken, 1, __ATOMIC_RELEASE);
      answer (connection, message, DRIVER, ":" OUR_NAME, g_variant_new ("(s)", ":" OUR_NAME));
    }
  else if (g_str_equal (member, "HoldProfile"))
    hold (self, connection, message);
  g_object_unref (message);
  return NULL;
}

static gboolean
connected (GDBusServer *server, GDBusConnection *connection, gpointer data)
{
  FakeBus *self = data;

  g_set_object (&self->connection, connection);
  (void) g_dbus_connection_add_filter (connection, take, self, NULL);
  return TRUE;
}

static void
fake_bus_start (FakeBus *self)
{
  g_autofree char *guid = g_dbus_generate_guid ();
  g_autofree char *address = g_strdup_printf ("unix:tmpdir=%s", g_get_tmp_dir ());
  g_autoptr (GError) error = NULL;

  self->server = g_dbus_server_new_sync (address, G_DBUS_SERVER_FLAGS_RUN_IN_THREAD, guid, NULL,
                                         NULL, &error);
  g_assert_no_error (error);
  g_signal_connect (self->server, "new-connection", G_CALLBACK (connected), self);
  g_dbus_server_start (self->server);
  g_setenv ("DBUS_SYSTEM_BUS_ADDRESS", g_dbus_server_get_client_address (self->server), TRUE);
}

static void
fake_bus_stop (FakeBus *self)
{
  __atomic_store_n (&is_broken, 0, __ATOMIC_RELEASE);
  g_dbus_server_stop (self->server);
  g_clear_object (&self->connection);
  g_clear_object (&self->server);
}

typedef struct
{
  const char *name;
  Manner manner;
  const char *told; /* NULL = nothing */
} Case;

static void
test_manner (gconstpointer data)
{
  const Case *c = data;
  FakeBus bus = { .manner = c->manner };
  Recorded recorded = { .began = request_stop_soon };
  int fd;

  fake_bus_start (&bus);
  fd = record_instrument (&recorded, sysprof_power_profile_new ("performance"));
  if (c->told != NULL)
    g_assert_true (recorded_has_told (&recorded, c->told));
  else
    g_assert_false (recorded_has_told (&recorded, ""));
  recorded_clear (&recorded);
  (void) close (fd);
  fake_bus_stop (&bus);
}

/* --- a bus that is busy --- */

static void *
accept_late (void *data)
{
  const int *listener = data;

  g_usleep (50000);
  for (unsigned i = 0; i < 2; i++)
    (void) close (accept4 (*listener, NULL, NULL, SOCK_CLOEXEC));
  return NULL;
}

/* As many wait to be let in as the kernel lets wait: it is no reason to do without. */
static void
test_waits_to_be_let_in (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  g_autofree char *folder = g_dir_make_tmp ("sysprof-bus-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "bus", NULL);
  g_autofree char *name = g_strconcat ("unix:path=", path, NULL);
  g_autoptr (GError) error = NULL;
  int listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int first, second;
  pthread_t thread;

  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  g_assert_cmpint (bind (listener, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (listener, 0), ==, 0);
  first = sysprof_bus_connect (name, &error);
  g_assert_no_error (error);
  g_assert_cmpint (pthread_create (&thread, NULL, accept_late, &listener), ==, 0);
  second = sysprof_bus_connect (name, &error);
  g_assert_no_error (error);
  g_assert_cmpint (fcntl (second, F_GETFL) & O_NONBLOCK, !=, 0);

  g_assert_cmpint (pthread_join (thread, NULL), ==, 0);
  (void) close (first);
  (void) close (second);
  (void) close (listener);
  (void) unlink (path);
  (void) rmdir (folder);
}

int
main (int argc, char **argv)
{
  static const Case cases[] = {
    { "/record/bus/good", BUS_IS_GOOD, NULL },
    { "/record/bus/answers-without-sender", BUS_HAS_A_LIAR, NULL },
    { "/record/bus/answers-to-others", BUS_TELLS_OF_OTHERS, NULL },
    { "/record/bus/strange-answer", BUS_ANSWERS_STRANGELY, "reply of the service is invalid" },
    { "/record/bus/signal-of-another", BUS_HAS_A_RELEASER, NULL },
    { "/record/bus/that-breaks", BUS_BREAKS, "cannot send to the bus" },
  };

  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    g_test_add_data_func (cases[i].name, &cases[i], test_manner);
  g_test_add_func ("/record/bus/waits-to-be-let-in", test_waits_to_be_let_in);
  return g_test_run ();
}
