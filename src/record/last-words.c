// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/last-words.h"

#include "record/bus-address.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define QUIET_MSEC  1000 /* nothing more comes as an answer */
#define MOST_ROUNDS 64

struct LastWords
{
  GPid child;
  int alive_fd; /* its other end reads an end when we are gone */
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

  /* The service may still ask who it is that speaks. */
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

  /* What ends the recorder's whole group or terminal is not to end this. */
  sigfillset (&all);
  (void) sigprocmask (SIG_BLOCK, &all, NULL);
  (void) setsid ();
  if (dup2 (alive_fd, 0) < 0)
    _exit (1);
  (void) syscall (SYS_close_range, 1U, ~0U, 0U); /* older kernels: what is open stays open */

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

/* Everything that is to be said, in one piece: a bus need not answer before it is told more. */
static GByteArray *
new_words (GDBusMessage *message)
{
  GByteArray *words = g_byte_array_new ();
  g_autofree char *line = sysprof_bus_dup_introduction ();
  g_autoptr (GDBusMessage) hello = g_dbus_message_new_method_call (
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello");

  g_byte_array_append (words, (const guint8 *) "", 1);
  g_byte_array_append (words, (const guint8 *) line, (guint) strlen (line));
  g_byte_array_append (words, (const guint8 *) "BEGIN\r\n", 7);
  add_message (words, hello, 1);
  add_message (words, message, 2);
  return words;
}

LastWords *
sysprof_last_words_new (const char *address, GDBusMessage *message, GError **error)
{
  g_autoptr (GByteArray) words = new_words (message);
  LastWords *self;
  int fds[2];
  GPid child;

  if (pipe2 (fds, O_CLOEXEC) != 0)
    {
      sysprof_set_error_errno (error, "no pipe can be made");
      return NULL;
    }

  child = fork ();
  if (child == 0)
    live (fds[0], address, words);
  (void) close (fds[0]);
  if (child < 0)
    {
      sysprof_set_error_errno (error, "no process can be started");
      (void) close (fds[1]);
      return NULL;
    }

  self = g_new (LastWords, 1);
  *self = (LastWords){ child, fds[1] };
  return self;
}

void
sysprof_last_words_take_back (LastWords *self)
{
  if (self == NULL)
    return;

  (void) !write (self->alive_fd, "", 1); /* or it has gone already */
  (void) close (self->alive_fd);
  (void) waitpid (self->child, NULL, 0);
  g_free (self);
}

void
sysprof_last_words_say (LastWords *self)
{
  if (self == NULL)
    return;

  (void) close (self->alive_fd);
  g_free (self); /* the child is left to itself: it may wait for an answer */
}
