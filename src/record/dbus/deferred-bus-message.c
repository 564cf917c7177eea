// SPDX-License-Identifier: GPL-3.0-or-later

/* A child process that sends a D-Bus message when the recorder has exited. The child must not
 * rely on other threads of the recorder: fork() does not copy them. */

#include "record/dbus/deferred-bus-message.h"

#include "dbus/dbus.h"
#include "record/dbus/bus-address.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define QUIET_MSEC  1000 /* stop reading replies after this silence */
#define MOST_ROUNDS 64

struct DeferredBusMessage
{
  GPid child;
  int alive_fd; /* the child reads end-of-file from the other end when we have exited */
};

/* --- the child --- */

static void
speak (const char *address, const GByteArray *words)
{
  autofd fd = sysprof_bus_connect (address, NULL);
  struct pollfd ready = { .fd = fd, .events = POLLIN };
  char answer[4096];

  if (fd < 0 || send (fd, words->data, words->len, MSG_NOSIGNAL) != (ssize_t) words->len)
    return;

  /* The service may still check the credentials of the sender. */
  for (unsigned i = 0; i < MOST_ROUNDS && poll (&ready, 1, QUIET_MSEC) == 1; i++)
    if (read (fd, answer, sizeof answer) <= 0)
      return;
}

G_NORETURN static void
live (int alive_fd, const char *address, const GByteArray *words)
{
  sigset_t all;
  char byte;
  ssize_t n;

  /* Signals to the recorder's process group or terminal must not end the child. */
  sigfillset (&all);
  (void) sigprocmask (SIG_BLOCK, &all, NULL);
  (void) setsid ();
  if (dup2 (alive_fd, 0) < 0)
    _exit (1);
  /* Older kernels do not have this call; the descriptors stay open then. */
  (void) syscall (SYS_close_range, 1U, ~0U, 0U);

  do
    n = read (0, &byte, 1);
  while (n < 0 && errno == EINTR);
  if (n <= 0)
    speak (address, words);
  _exit (0);
}

/* --- the parent --- */

static void
add_message (GByteArray *words, GDBusMessage *message, uint32_t serial)
{
  g_autofree guint8 *bytes = NULL;
  gsize size;

  g_dbus_message_set_serial (message, serial);
  bytes = g_dbus_message_to_blob (message, &size, G_DBUS_CAPABILITY_FLAGS_NONE, NULL);
  g_byte_array_append (words, bytes, (guint) size);
}

/* The complete byte stream: a bus accepts messages before it has replied to the earlier
 * ones. */
static GByteArray *
new_words (GDBusMessage *message)
{
  GByteArray *words = g_byte_array_new ();
  char line[BUS_INTRODUCTION_SIZE];
  g_autoptr (GDBusMessage) hello = g_dbus_message_new_method_call (
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello");

  sysprof_dbus_introduce (line);
  g_byte_array_append (words, (const guint8 *) "", 1);
  g_byte_array_append (words, (const guint8 *) line, (guint) strlen (line));
  g_byte_array_append (words, (const guint8 *) "BEGIN\r\n", 7);
  add_message (words, hello, 1);
  add_message (words, message, 2);
  return words;
}

DeferredBusMessage *
sysprof_deferred_bus_message_new (const char *address, GDBusMessage *message, GError **error)
{
  g_autoptr (GByteArray) words = new_words (message);
  DeferredBusMessage *self;
  int fds[2];
  GPid child;

  if (pipe2 (fds, O_CLOEXEC) != 0)
    {
      sysprof_set_error_errno (error, "cannot create a pipe");
      return NULL;
    }

  child = fork ();
  if (child == 0)
    live (fds[0], address, words);
  (void) close (fds[0]);
  if (child < 0)
    {
      sysprof_set_error_errno (error, "cannot start a process");
      (void) close (fds[1]);
      return NULL;
    }

  self = g_new (DeferredBusMessage, 1);
  *self = (DeferredBusMessage){ child, fds[1] };
  return self;
}

void
sysprof_deferred_bus_message_cancel (DeferredBusMessage *self)
{
  if (self == NULL)
    return;

  (void) !write (self->alive_fd, "", 1); /* fails if the child has exited */
  (void) close (self->alive_fd);
  (void) waitpid (self->child, NULL, 0);
  g_free (self);
}

void
sysprof_deferred_bus_message_send (DeferredBusMessage *self)
{
  if (self == NULL)
    return;

  (void) close (self->alive_fd);
  g_free (self); /* do not wait for the child: it may be waiting for a reply */
}
