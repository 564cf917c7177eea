// SPDX-License-Identifier: GPL-3.0-or-later

/* A connection with a name on a bus. It reads exactly one message at a time, so that its
 * descriptors belong to this message, and so that the socket can be passed on between two
 * messages. */

#include "dbus/dbus.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_LINE  1024 /* bytes; during authentication */
#define BUS_ITSELF "org.freedesktop.DBus"

typedef struct Queued Queued;
struct Queued
{
  BusOutgoing out;
  Queued *next;
};

struct BusConnection
{
  int fd;
  char *name;
  uint32_t last_serial;
  size_t limit;  /* bytes of a message with its body */
  size_t unsent; /* bytes in the queue */
  Queued *first;
  Queued **end;
  /* the message that is being received */
  uint8_t fixed[BUS_FIXED_SIZE];
  uint8_t *bytes; /* NULL before its size is known */
  size_t size;    /* of the message */
  size_t kept;    /* of `bytes`: less than `size` if the message is too long */
  size_t n_read;  /* of the message */
  int fds[BUS_MOST_FDS];
  unsigned n_fds;
};

static int64_t
now_msec (void)
{
  struct timespec now;

  (void) clock_gettime (CLOCK_MONOTONIC, &now); /* always succeeds */
  return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* FALSE with ETIMEDOUT at the deadline. */
static bool
wait_for (int fd, short events, int64_t deadline)
{
  int64_t left = deadline - now_msec ();
  struct pollfd ready = { .fd = fd, .events = events };
  int n;

  do
    n = left > 0 ? poll (&ready, 1, (int) left) : 0;
  while (n < 0 && errno == EINTR);
  if (n == 0)
    errno = ETIMEDOUT;
  return n > 0;
}

/* --- authentication --- */

static bool
send_text (int fd, const char *text, size_t size)
{
  return send (fd, text, size, MSG_NOSIGNAL) == (ssize_t) size; /* fits into an empty buffer */
}

/* Reads byte by byte: messages may follow the last line. */
static bool
receive_line (int fd, char *line, int64_t deadline)
{
  for (size_t n = 0; n + 1 < MOST_LINE;)
    {
      ssize_t got = recv (fd, line + n, 1, MSG_DONTWAIT);

      if (got < 0 && (errno == EAGAIN || errno == EINTR))
        {
          if (!wait_for (fd, POLLIN, deadline))
            return false;
          continue;
        }
      if (got == 0)
        errno = EPIPE;
      if (got <= 0)
        return false;
      if (line[n++] == '\n')
        {
          line[n] = '\0';
          return true;
        }
    }
  errno = EBADMSG;
  return false;
}

static bool
authenticate (int fd, bool takes_fds, int64_t deadline)
{
  static const char negotiate[] = "NEGOTIATE_UNIX_FD\r\n";
  static const char begin[] = "BEGIN\r\n";
  char line[MOST_LINE];

  sysprof_dbus_introduce (line);
  if (!send_text (fd, "", 1) || !send_text (fd, line, strlen (line)) ||
      !receive_line (fd, line, deadline))
    return false;
  if (strncmp (line, "OK", 2) != 0)
    {
      errno = EACCES;
      return false;
    }
  if (takes_fds &&
      (!send_text (fd, negotiate, sizeof negotiate - 1) || !receive_line (fd, line, deadline)))
    return false;
  return send_text (fd, begin, sizeof begin - 1);
}

static bool
say_hello (BusConnection *self, int timeout_msec)
{
  const BusHeader header = { .type = BUS_METHOD_CALL,
                             .path = "/org/freedesktop/DBus",
                             .interface = BUS_ITSELF,
                             .member = "Hello",
                             .destination = BUS_ITSELF };
  BusMessage *reply = sysprof_dbus_connection_call (self, &header, NULL, timeout_msec);

  if (reply == NULL)
    return false;

  if (strcmp (reply->signature, "s") == 0)
    self->name = strdup (sysprof_dbus_read_string (&reply->body));
  sysprof_dbus_message_free (reply);
  errno = EBADMSG;
  return self->name != NULL && *self->name == ':';
}

BusConnection *
sysprof_dbus_connection_new (const char *addresses, bool takes_fds, int timeout_msec)
{
  int64_t deadline = now_msec () + timeout_msec;
  BusConnection *self = calloc (1, sizeof *self);
  int saved;

  if (self == NULL)
    return NULL;

  self->end = &self->first;
  self->limit = BUS_MOST_MESSAGE;
  self->fd = sysprof_dbus_connect (addresses);
  if (self->fd >= 0 && authenticate (self->fd, takes_fds, deadline) &&
      say_hello (self, (int) (deadline - now_msec ())))
    return self;

  saved = errno;
  sysprof_dbus_connection_free (self);
  errno = saved;
  return NULL;
}

static void
drop_input (BusConnection *self)
{
  for (unsigned i = 0; i < self->n_fds; i++)
    (void) close (self->fds[i]);
  free (self->bytes);
  self->bytes = NULL;
  self->size = self->kept = self->n_read = 0;
  self->n_fds = 0;
}

void
sysprof_dbus_connection_free (BusConnection *self)
{
  if (self == NULL)
    return;

  if (self->fd >= 0)
    (void) close (self->fd);
  drop_input (self);
  while (self->first != NULL)
    {
      Queued *next = self->first->next;

      sysprof_dbus_outgoing_clear (&self->first->out);
      free (self->first);
      self->first = next;
    }
  free (self->name);
  free (self);
}

int
sysprof_dbus_connection_steal_socket (BusConnection *self)
{
  int fd = self->fd;

  self->fd = -1;
  sysprof_dbus_connection_free (self);
  return fd;
}

int
sysprof_dbus_connection_get_fd (const BusConnection *self)
{
  return self->fd;
}

size_t
sysprof_dbus_connection_get_unsent (const BusConnection *self)
{
  return self->unsent;
}

void
sysprof_dbus_connection_set_limit (BusConnection *self, size_t size)
{
  self->limit = size;
}

/* --- sending --- */

bool
sysprof_dbus_connection_flush (BusConnection *self)
{
  Queued *queued;

  while ((queued = self->first) != NULL)
    {
      size_t before = queued->out.sent;
      bool is_done = sysprof_dbus_socket_send (self->fd, &queued->out);

      self->unsent -= queued->out.sent - before;
      if (!is_done)
        return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM;

      self->first = queued->next;
      if (self->first == NULL)
        self->end = &self->first;
      sysprof_dbus_outgoing_clear (&queued->out);
      free (queued);
    }
  return true;
}

uint32_t
sysprof_dbus_connection_send_bytes (BusConnection *self, uint8_t *bytes, size_t size, int fd)
{
  Queued *queued = bytes != NULL ? calloc (1, sizeof *queued) : NULL;
  BusOutgoing out = { bytes, size, 0, fd };

  if (queued == NULL)
    {
      sysprof_dbus_outgoing_clear (&out);
      return 0;
    }
  if (++self->last_serial == 0)
    self->last_serial = 1;
  memcpy (bytes + 8, &self->last_serial, sizeof self->last_serial);
  queued->out = out;
  *self->end = queued;
  self->end = &queued->next;
  self->unsent += size;
  return self->last_serial;
}

void
sysprof_dbus_connection_skip_serials (BusConnection *self, uint32_t n)
{
  self->last_serial += n;
}

uint32_t
sysprof_dbus_connection_send (BusConnection *self,
                              const BusHeader *header,
                              const BusWriter *body,
                              int fd)
{
  size_t size = 0;
  uint8_t *bytes = sysprof_dbus_serialize (header, body, fd >= 0, &size);

  return sysprof_dbus_connection_send_bytes (self, bytes, size, fd);
}

/* --- receiving --- */

/* Decides how much of the message is kept. A message that is too long keeps its header, however
 * long: a path has no limit of its own, and the caller must get an answer. */
static bool
begin_message (BusConnection *self)
{
  BusReader reader = { self->fixed, BUS_FIXED_SIZE, 12, self->fixed[0] == 'B', false };
  size_t header;

  self->size = sysprof_dbus_message_size (self->fixed);
  header = BUS_FIXED_SIZE + (((size_t) sysprof_dbus_read_u32 (&reader) + 7) & ~(size_t) 7);
  self->kept = self->size <= self->limit ? self->size : header;
  self->bytes = self->size != 0 ? malloc (self->kept) : NULL;
  if (self->bytes == NULL)
    {
      errno = EBADMSG;
      return false;
    }
  memcpy (self->bytes, self->fixed, BUS_FIXED_SIZE);
  return true;
}

/* Reads more of the message. FALSE with errno. */
static bool
read_more (BusConnection *self)
{
  uint8_t unused[4096];
  uint8_t *to = self->fixed + self->n_read;
  size_t wanted = BUS_FIXED_SIZE - self->n_read;
  ssize_t n;

  if (self->bytes != NULL)
    {
      bool is_kept = self->n_read < self->kept;
      size_t left = (is_kept ? self->kept : self->size) - self->n_read;

      to = is_kept ? self->bytes + self->n_read : unused;
      wanted = is_kept || left < sizeof unused ? left : sizeof unused;
    }
  n = sysprof_dbus_socket_receive (self->fd, to, wanted, self->fds, &self->n_fds);
  if (n == 0)
    errno = EPIPE;
  if (n > 0)
    self->n_read += (size_t) n;
  return n > 0;
}

BusMessage *
sysprof_dbus_connection_receive (BusConnection *self)
{
  BusMessage *message = NULL;

  while (message == NULL)
    {
      while (self->bytes == NULL || self->n_read < self->size)
        if (!read_more (self) ||
            (self->bytes == NULL && self->n_read == BUS_FIXED_SIZE && !begin_message (self)))
          return NULL;

      message = sysprof_dbus_message_new (self->bytes, self->kept);
      self->bytes = NULL;
      if (message != NULL)
        {
          message->is_too_long = self->kept < self->size;
          memcpy (message->fds, self->fds, sizeof self->fds);
          message->n_fds = self->n_fds;
          self->n_fds = 0;
        }
      drop_input (self);
    }
  return message;
}

BusMessage *
sysprof_dbus_connection_call (BusConnection *self,
                              const BusHeader *header,
                              const BusWriter *body,
                              int timeout_msec)
{
  int64_t deadline = now_msec () + timeout_msec;
  uint32_t serial = sysprof_dbus_connection_send (self, header, body, -1);
  BusMessage *message;

  if (serial == 0)
    {
      errno = EMSGSIZE;
      return NULL;
    }
  for (;;)
    {
      if (!sysprof_dbus_connection_flush (self))
        return NULL;
      message = sysprof_dbus_connection_receive (self);
      if (message == NULL)
        {
          short events = self->first != NULL ? POLLIN | POLLOUT : POLLIN;

          if (errno != EAGAIN || !wait_for (self->fd, events, deadline))
            return NULL;
          continue;
        }
      if (message->reply_serial == serial && message->type == BUS_METHOD_RETURN)
        return message;
      if (message->reply_serial == serial && message->type == BUS_ERROR)
        {
          sysprof_dbus_message_free (message);
          errno = EREMOTEIO;
          return NULL;
        }
      sysprof_dbus_message_free (message);
    }
}
