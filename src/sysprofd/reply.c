// SPDX-License-Identifier: GPL-3.0-or-later

/* The results of calls: a reply or an error. */

#include "sysprofd/sysprofd.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define UNREAD_PING (16u * 1024)   /* bytes; then the client has to show that it reads */
#define UNREAD_FD   (1024u * 1024) /* a descriptor counts as so many bytes */

void
sysprof_reply_fail (Reply *self, const char *error, const char *format, ...)
{
  va_list arguments;

  self->error = error;
  va_start (arguments, format);
  (void) vsnprintf (self->text, sizeof self->text, format, arguments);
  va_end (arguments);
}

void
sysprof_reply_set_fd (Reply *self, int fd)
{
  self->fd = fd;
  sysprof_dbus_write_u32 (&self->body, 0);
}

/* The length of a valid character at `text`; 0 = it is not valid. */
static size_t
character_length (const unsigned char *text)
{
  static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  size_t length = *text < 0x80 ? 1 : *text >> 5 == 6 ? 2 : *text >> 4 == 14 ? 3 : 4;
  uint32_t value = length == 1 ? *text : *text & (0x7fu >> length);

  if (length == 4 && *text >> 3 != 30)
    return 0;
  for (size_t i = 1; i < length; i++)
    {
      if (text[i] >> 6 != 2)
        return 0;
      value = value << 6 | (text[i] & 0x3fu);
    }
  return value >= least[length] && value <= 0x10ffff && value >> 11 != 0x1b ? length : 0;
}

void
sysprof_reply_write_text (BusWriter *body, char *text)
{
  for (char *at = text; *at != '\0';)
    {
      size_t length = character_length ((const unsigned char *) at);

      if (length == 0)
        *at = '?';
      at += length > 0 ? length : 1;
    }
  sysprof_dbus_write_string (body, text);
}

int
sysprof_call_get_fd (const Call *call, uint32_t index)
{
  return index < call->message->n_fds ? call->message->fds[index] : -1;
}

/* An error instead of a reply that cannot be sent. */
static void
check_reply (Call *call)
{
  if (call->reply.error != NULL)
    return;
  if (call->values != NULL && call->values->is_failed)
    sysprof_reply_fail (&call->reply, "InvalidArgs", "The arguments are not valid");
  else if (call->reply.body.is_failed)
    sysprof_reply_fail (&call->reply, "LimitsExceeded", "The reply is too long for the bus");
}

uint8_t *
sysprof_call_serialize (Call *call, size_t *size)
{
  char name[64], text[sizeof call->reply.text];
  BusWriter body = { 0 };
  BusHeader header = { .type = BUS_METHOD_RETURN,
                       .flags = BUS_NO_REPLY,
                       .reply_serial = call->message->serial,
                       .destination = call->message->sender };
  uint8_t *bytes;

  if ((call->message->flags & BUS_NO_REPLY) != 0)
    return NULL;

  check_reply (call);
  if (call->reply.error == NULL)
    {
      header.signature = call->method->out;
      return sysprof_dbus_serialize (&header, &call->reply.body, call->reply.fd >= 0, size);
    }

  if (call->reply.fd >= 0)
    (void) close (call->reply.fd);
  call->reply.fd = -1;
  (void) snprintf (name, sizeof name, "org.freedesktop.DBus.Error.%s", call->reply.error);
  header.type = BUS_ERROR;
  header.error = name;
  header.signature = "s";
  (void) snprintf (text, sizeof text, "%s", call->reply.text);
  sysprof_reply_write_text (&body, text);
  bytes = sysprof_dbus_serialize (&header, &body, 0, size);
  sysprof_dbus_writer_clear (&body);
  return bytes;
}

/* --- whether clients read them --- */

/* Clients that read get to this message and answer it; one that does not knows no serial to
 * answer. An error counts as an answer, too: not every bus lets us send it. */
static void
ping (Service *service, Client *client)
{
  const BusHeader header = { .type = BUS_METHOD_CALL,
                             .path = "/",
                             .interface = "org.freedesktop.DBus.Peer",
                             .member = "Ping",
                             .destination = client->name };
  uint32_t unknown = 0;

  (void) !getrandom (&unknown, sizeof unknown, GRND_NONBLOCK); /* then it can be guessed */
  sysprof_dbus_connection_skip_serials (service->bus, unknown >> 4);
  client->ping_serial = sysprof_dbus_connection_send (service->bus, &header, NULL, -1);
  client->unread_before = client->unread;
}

void
sysprof_client_take_ping (Service *service, Client *client)
{
  client->ping_serial = 0;
  client->unread -= client->unread_before;
  if (client->unread > UNREAD_PING)
    ping (service, client);
}

void
sysprof_client_send (Service *service, Client *client, uint8_t *bytes, size_t size, int fd)
{
  client->unread += size + (fd >= 0 ? UNREAD_FD : 0);
  (void) sysprof_dbus_connection_send_bytes (service->bus, bytes, size, fd);
  if (client->unread > UNREAD_PING && client->ping_serial == 0)
    ping (service, client);
}

void
sysprof_call_answer (Service *service, Call *call)
{
  size_t size = 0;
  uint8_t *bytes = sysprof_call_serialize (call, &size);

  if (bytes != NULL)
    {
      sysprof_client_send (service, call->client, bytes, size, call->reply.fd);
      call->reply.fd = -1;
    }
  sysprof_dbus_writer_clear (&call->reply.body);
}

void
sysprof_call_free (Call *call)
{
  sysprof_dbus_writer_clear (&call->reply.body);
  if (call->reply.fd >= 0)
    (void) close (call->reply.fd);
  sysprof_dbus_message_free (call->message);
  free (call);
}
