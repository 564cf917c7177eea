// SPDX-License-Identifier: GPL-3.0-or-later

/* A D-Bus connection: authentication, calls, replies. It must never block, except in
 * sysprof_bus_wait(). Sources: D-Bus Specification, "Authentication Protocol" and "Message
 * Protocol". */

#include "record/dbus/bus.h"

#include "dbus/dbus.h"
#include "record/clock.h"
#include "record/dbus/bus-address.h"
#include "record/recording-context.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixfdlist.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define READ_SIZE (128 * 1024) /* bytes of one read */
/* bytes per wake-up, so that other sources get their turn */
#define READ_BUDGET    (1024 * 1024)
#define MOST_LINE      4096 /* bytes; during authentication */
#define POLL_MSEC      50
#define BUS_ITSELF     "org.freedesktop.DBus"
#define RETRY_INTERVAL (20 * NSEC_PER_MSEC)

typedef enum
{
  BUS_EXTERNAL,  /* sent AUTH EXTERNAL, with the socket's credentials */
  BUS_ANONYMOUS, /* sent AUTH ANONYMOUS */
  BUS_FDS,       /* sent NEGOTIATE_UNIX_FD */
  BUS_HELLO,     /* sent Hello, which requests a unique name */
  BUS_READY,
  BUS_CLOSED,
} BusState;

typedef struct
{
  uint32_t serial;
  char *callee; /* destination of the call; owned */
  BusReplyFunc reply;
  void *data;
} Pending;

struct Bus
{
  RecordingContext *context;
  char *address;
  int fd;
  BusState state;
  bool is_monitor;
  BusEvents events;
  void *data;
  char *name;
  uint32_t last_serial;
  GQueue outgoing;  /* [BusOutgoing] being sent */
  GQueue waiting;   /* [BusOutgoing] queued until Hello is answered */
  GArray *pending;  /* [Pending] */
  bool is_watched;  /* by the pump */
  bool is_retrying; /* a tick retries because the socket buffer is full */
  int send_error;   /* errno; 0 = none */
  size_t skip;      /* bytes left of a message that is too long */
  size_t n_read;    /* bytes in `input` */
  uint8_t input[READ_SIZE + BUS_MESSAGE_MAX];
};

static void
free_outgoing (void *data)
{
  sysprof_dbus_outgoing_clear (data);
  g_free (data);
}

static void
clear_pending (void *data)
{
  g_free (((Pending *) data)->callee);
}

static GArray *
new_pending (void)
{
  GArray *pending = g_array_new (false, false, sizeof (Pending));

  g_array_set_clear_func (pending, clear_pending);
  return pending;
}

static void retry_tick (RecordingContext *context, int64_t now, void *data);

void
sysprof_bus_detach (Bus *self)
{
  if (self == NULL || !self->is_watched)
    return;

  sysprof_pump_unwatch_fd (self->context->pump, self->fd);
  if (self->is_retrying)
    sysprof_pump_remove_tick (self->context->pump, retry_tick, self);
  self->is_watched = self->is_retrying = false;
}

/* Takes ownership of `error`. */
static void
close_with (Bus *self, GError *error)
{
  GArray *pending = self->pending;

  if (self->state == BUS_CLOSED)
    {
      g_error_free (error);
      return;
    }
  self->state = BUS_CLOSED;
  self->pending = new_pending ();
  sysprof_bus_detach (self);
  g_queue_clear_full (&self->outgoing, free_outgoing);
  g_queue_clear_full (&self->waiting, free_outgoing);

  for (guint i = 0; i < pending->len; i++)
    {
      const Pending *call = &g_array_index (pending, Pending, i);

      call->reply (self, NULL, error, call->data);
    }
  g_array_unref (pending);
  self->events.closed (self, error, self->data);
  g_error_free (error);
}

G_GNUC_PRINTF (3, 4)
static void
fail (Bus *self, SysprofErrorCode code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  close_with (self, g_error_new_valist (SYSPROF_ERROR, code, format, args));
  va_end (args);
}

/* --- sending --- */

/* Whether sending may succeed later. */
static bool
is_passing (int number)
{
  return number == EAGAIN || number == ENOBUFS || number == ENOMEM;
}

static void
send_what_waits (Bus *self)
{
  BusOutgoing *out;

  errno = EAGAIN;
  while ((out = g_queue_peek_head (&self->outgoing)) != NULL &&
         sysprof_dbus_socket_send (self->fd, out))
    free_outgoing (g_queue_pop_head (&self->outgoing));

  if (out != NULL && !is_passing (errno))
    {
      /* Errors are reported when reading, so that callbacks never run inside a call of the
       * user. A read also shows that the other side has closed the connection. */
      if (self->send_error == 0 && errno != EPIPE && errno != ECONNRESET)
        self->send_error = errno;
      g_queue_clear_full (&self->outgoing, free_outgoing);
      (void) shutdown (self->fd, SHUT_RDWR); /* fails if the connection is closed already */
      out = NULL;
    }

  if (self->is_retrying == (out != NULL) || !self->is_watched)
    return;
  if (out != NULL)
    sysprof_pump_add_tick (self->context->pump, RETRY_INTERVAL, retry_tick, self);
  else
    sysprof_pump_remove_tick (self->context->pump, retry_tick, self);
  self->is_retrying = out != NULL;
}

static void
retry_tick (RecordingContext *context, int64_t now, void *data)
{
  send_what_waits (data);
}

static void
send_text (Bus *self, const char *text, size_t size)
{
  BusOutgoing *out = g_new0 (BusOutgoing, 1);

  *out = (BusOutgoing){ .bytes = g_memdup2 (text, size), .size = size, .fd = -1 };
  g_queue_push_tail (&self->outgoing, out);
  send_what_waits (self);
}

static void
send_line (Bus *self, const char *line)
{
  send_text (self, line, strlen (line));
}

static void
queue_message (Bus *self, GQueue *queue, GDBusMessage *message, int fd)
{
  g_autoptr (GError) error = NULL;
  BusOutgoing *out = g_new0 (BusOutgoing, 1);

  out->fd = fd >= 0 ? fcntl (fd, F_DUPFD_CLOEXEC, 3) : -1;
  if (out->fd >= 0)
    {
      g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();

      /* this only sets the number of descriptors in the header */
      (void) g_unix_fd_list_append (fds, fd, NULL);
      g_dbus_message_set_unix_fd_list (message, fds);
    }
  out->bytes = g_dbus_message_to_blob (message, &out->size,
                                       G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, &error);
  /* Our own messages only contain types that D-Bus has. */
  g_assert_no_error (error);
  g_queue_push_tail (queue, out);
}

void
sysprof_bus_call (Bus *self, GDBusMessage *call, int fd, BusReplyFunc reply, void *data)
{
  Pending pending = { ++self->last_serial, NULL, reply, data };

  g_dbus_message_set_serial (call, pending.serial);
  if (reply != NULL && self->state != BUS_CLOSED)
    {
      pending.callee = g_strdup (g_dbus_message_get_destination (call));
      g_array_append_val (self->pending, pending);
    }
  if (self->state != BUS_CLOSED)
    queue_message (self, self->state == BUS_READY ? &self->outgoing : &self->waiting, call, fd);
  g_object_unref (call);
  if (self->state == BUS_READY)
    send_what_waits (self);
}

/* --- messages to us --- */

static void
greeted (Bus *self, GDBusMessage *reply, const GError *error, void *data)
{
  GVariant *body = reply != NULL ? g_dbus_message_get_body (reply) : NULL;
  BusOutgoing *out;

  if (self->state == BUS_CLOSED)
    return;
  if (body == NULL || !g_variant_is_of_type (body, G_VARIANT_TYPE ("(s)")))
    {
      fail (self, SYSPROF_ERROR_FAILED,
            "the bus at '%s' assigns no name to the recorder: %s. See the log of the bus, and "
            "try again.",
            self->address, error != NULL ? error->message : "its reply is invalid");
      return;
    }

  g_variant_get (body, "(s)", &self->name);
  self->state = BUS_READY;
  while ((out = g_queue_pop_head (&self->waiting)) != NULL)
    g_queue_push_tail (&self->outgoing, out);
  send_what_waits (self);
}

static void
say_hello (Bus *self)
{
  GDBusMessage *call =
      g_dbus_message_new_method_call (BUS_ITSELF, "/org/freedesktop/DBus", BUS_ITSELF, "Hello");
  Pending pending = { ++self->last_serial, g_strdup (BUS_ITSELF), greeted, NULL };

  self->state = BUS_HELLO;
  g_dbus_message_set_serial (call, pending.serial);
  g_array_append_val (self->pending, pending);
  queue_message (self, &self->outgoing, call, -1);
  g_object_unref (call);
  send_what_waits (self);
}

/* Anyone on the bus can send a message that claims to be the reply to a serial, so check the
 * sender. If the callee has a well-known name, any unique name is accepted, because the owner
 * of the name is unknown here. The bus itself reports calls that it cannot deliver. */
static bool
may_answer (const Bus *self, const Pending *call, GDBusMessage *message)
{
  const char *destination = g_dbus_message_get_destination (message);
  const char *sender = g_dbus_message_get_sender (message);

  if (sender == NULL || (self->name != NULL && g_strcmp0 (destination, self->name) != 0))
    return false;
  if (g_str_equal (sender, BUS_ITSELF))
    return g_str_equal (call->callee, BUS_ITSELF) ||
           g_dbus_message_get_message_type (message) == G_DBUS_MESSAGE_TYPE_ERROR;
  return g_dbus_is_unique_name (sender) && g_strcmp0 (sender, self->name) != 0 &&
         (g_dbus_is_unique_name (call->callee) ? g_str_equal (sender, call->callee)
                                               : !g_str_equal (call->callee, BUS_ITSELF));
}

static void
take_reply (Bus *self, GDBusMessage *message)
{
  uint32_t serial = g_dbus_message_get_reply_serial (message);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < self->pending->len; i++)
    {
      Pending call = g_array_index (self->pending, Pending, i);

      if (call.serial != serial || !may_answer (self, &call, message))
        continue;

      g_array_remove_index (self->pending, i); /* this frees its `callee` */
      if (g_dbus_message_to_gerror (message, &error))
        {
          g_dbus_error_strip_remote_error (error);
          call.reply (self, NULL, error, call.data);
        }
      else
        call.reply (self, message, NULL, call.data);
      return;
    }
}

static void
take_own_message (Bus *self, uint8_t *bytes, size_t size)
{
  g_autoptr (GDBusMessage) message =
      g_dbus_message_new_from_blob (bytes, size, G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, NULL);

  if (message == NULL)
    return; /* an invalid message cannot be a reply */

  switch (g_dbus_message_get_message_type (message))
    {
    case G_DBUS_MESSAGE_TYPE_METHOD_RETURN:
    case G_DBUS_MESSAGE_TYPE_ERROR:
      take_reply (self, message);
      break;
    case G_DBUS_MESSAGE_TYPE_SIGNAL:
      if (self->events.signal != NULL)
        self->events.signal (self, message, self->data);
      break;
    default:
      break; /* we export no objects */
    }
}

/* --- receiving --- */

/* Processes the complete messages. Returns the number of bytes used. */
static size_t
take_messages (Bus *self, int64_t time)
{
  size_t at = 0;

  while (self->state != BUS_CLOSED)
    {
      size_t left = self->n_read - at;
      size_t n = MIN (self->skip, left);
      size_t size;

      at += n;
      left -= n;
      self->skip -= n;
      if (left < BUS_FIXED_SIZE)
        break;

      size = sysprof_dbus_message_size (self->input + at);
      if (size == 0)
        {
          fail (self, SYSPROF_ERROR_CORRUPT,
                "the bus at '%s' sent an invalid D-Bus message. Give the address of a "
                "message bus.",
                self->address);
          break;
        }
      if (size > BUS_MESSAGE_MAX)
        {
          if (self->is_monitor)
            self->events.message (self, time, NULL, size, self->data);
          self->skip = size;
          continue;
        }
      if (left < size)
        break;

      if (self->is_monitor)
        self->events.message (self, time, self->input + at, size, self->data);
      else
        take_own_message (self, self->input + at, size);
      at += size;
    }
  return at;
}

/* Processes one line from the bus during authentication. */
static void
take_line (Bus *self, const char *line)
{
  if (self->state == BUS_FDS)
    {
      /* If the bus refuses to pass descriptors, calls that need them fail later. */
      send_line (self, "BEGIN\r\n");
      say_hello (self);
    }
  else if (g_str_has_prefix (line, "OK"))
    {
      self->state = BUS_FDS;
      send_line (self, "NEGOTIATE_UNIX_FD\r\n");
    }
  else if (g_str_has_prefix (line, "REJECTED") && self->state == BUS_EXTERNAL &&
           strstr (line, "ANONYMOUS") != NULL)
    {
      self->state = BUS_ANONYMOUS;
      send_line (self, "AUTH ANONYMOUS\r\n");
    }
  else
    fail (self, SYSPROF_ERROR_DENIED,
          "the bus at '%s' rejects this user. Record as the user who owns the bus.",
          self->address);
}

static size_t
take_lines (Bus *self)
{
  size_t at = 0;

  while (self->state < BUS_HELLO)
    {
      char *line = (char *) self->input + at;
      char *end = memchr (line, '\n', self->n_read - at);

      if (end == NULL)
        {
          if (self->n_read - at > MOST_LINE)
            fail (self, SYSPROF_ERROR_CORRUPT,
                  "'%s' is not the address of a message bus. Give the address of one.",
                  self->address);
          break;
        }
      *end = '\0';
      at += (size_t) (end + 1 - line);
      take_line (self, line);
    }
  return at;
}

/* `time`: when the pump woke up. All messages of one wake-up get this time, because they were
 * queued for an unknown time; separate timestamps would only show how fast they were read.
 * FALSE if there is nothing more to read now. */
static bool
read_once (Bus *self, int64_t time)
{
  ssize_t n = sysprof_dbus_socket_receive (self->fd, self->input + self->n_read,
                                           sizeof self->input - self->n_read, NULL, NULL);
  size_t used = 0;

  if (n < 0 && errno == EAGAIN)
    return false;
  if (n <= 0 && self->send_error != 0)
    {
      fail (self, SYSPROF_ERROR_PEER_GONE,
            "cannot send to the bus at '%s': %s. See the log of the bus, and record again.",
            self->address, g_strerror (self->send_error));
      return false;
    }
  if (n <= 0)
    {
      fail (self, SYSPROF_ERROR_PEER_GONE,
            "the bus at '%s' has closed the connection%s%s. Keep it running during the "
            "recording, and record again.",
            self->address, n < 0 ? ": " : "", n < 0 ? g_strerror (errno) : "");
      return false;
    }

  self->n_read += (size_t) n;
  if (self->state < BUS_HELLO)
    used = take_lines (self);
  self->n_read -= used;
  memmove (self->input, self->input + used, self->n_read);
  used = self->state == BUS_HELLO || self->state == BUS_READY ? take_messages (self, time) : 0;
  self->n_read -= used;
  memmove (self->input, self->input + used, self->n_read);
  return self->state != BUS_CLOSED;
}

static void
socket_ready (RecordingContext *context, int fd, void *data)
{
  Bus *self = data;
  const int64_t time = sysprof_clock_now ();
  size_t budget = READ_BUDGET / READ_SIZE;

  send_what_waits (self);
  while (budget-- > 0 && read_once (self, time))
    continue;
}

/* --- functions for other modules --- */

Bus *
sysprof_bus_open (RecordingContext *context,
                  const char *address,
                  const BusEvents *events,
                  void *data,
                  GError **error)
{
  int fd = sysprof_bus_connect (address, error);
  char line[BUS_INTRODUCTION_SIZE];
  Bus *self;

  if (fd < 0)
    return NULL;

  self = g_new0 (Bus, 1);
  self->context = context;
  self->address = g_strdup (address);
  self->fd = fd;
  self->events = *events;
  self->data = data;
  self->pending = new_pending ();
  self->is_watched = true;
  sysprof_pump_watch_fd (context->pump, fd, socket_ready, self);

  /* the protocol starts with a NUL byte, which carries our credentials */
  send_text (self, "", 1);
  sysprof_dbus_introduce (line);
  send_line (self, line);
  return self;
}

bool
sysprof_bus_drain (Bus *self, int64_t deadline)
{
  const int64_t time = sysprof_clock_now ();

  while (self->state != BUS_CLOSED && read_once (self, time))
    if (sysprof_clock_now () >= deadline)
      return false;
  return true;
}

void
sysprof_bus_close (Bus *self)
{
  if (self == NULL)
    return;

  g_queue_clear_full (&self->outgoing, free_outgoing);
  g_queue_clear_full (&self->waiting, free_outgoing);
  g_array_unref (self->pending);
  sysprof_autofd_close (&self->fd);
  g_free (self->address);
  g_free (self->name);
  g_free (self);
}

void
sysprof_bus_set_monitor (Bus *self)
{
  self->is_monitor = true;
}

const char *
sysprof_bus_get_name (Bus *self)
{
  return self->name;
}

bool
sysprof_bus_wait (Bus *self,
                  int64_t deadline,
                  bool (*is_done) (const void *data),
                  const void *data)
{
  /* then only skipping augment ends the wait */
  bool may_stop = sysprof_pump_is_stop_requested (self->context->pump);

  while (!is_done (data) && self->state != BUS_CLOSED && sysprof_clock_now () < deadline &&
         !sysprof_context_is_augment_skipped (self->context) &&
         (may_stop || !sysprof_pump_is_stop_requested (self->context->pump)))
    {
      struct pollfd ready = {
        .fd = self->fd,
        .events = (short) (g_queue_is_empty (&self->outgoing) ? POLLIN : POLLIN | POLLOUT)
      };

      if (poll (&ready, 1, POLL_MSEC) > 0)
        socket_ready (self->context, self->fd, self);
    }
  return is_done (data);
}
