// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads messages. A bus checks the messages of its clients, but nothing here relies on that. */

#include "dbus/dbus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROTOCOL 1 /* the version */

static const uint8_t *
take (BusReader *self, size_t size)
{
  const uint8_t *start = self->bytes + self->at;

  if (self->is_failed || size > self->size - self->at)
    {
      self->is_failed = true;
      return NULL;
    }
  self->at += size;
  return start;
}

/* Alignment counts from the start of the bytes: the body of a message starts at a multiple
 * of 8. */
void
sysprof_dbus_read_align (BusReader *self, size_t alignment)
{
  (void) take (self, (alignment - self->at % alignment) % alignment);
}

/* A number is as long as its alignment. */
static uint64_t
take_number (BusReader *self, size_t size)
{
  const uint8_t *bytes;
  uint64_t value = 0;

  sysprof_dbus_read_align (self, size);
  bytes = take (self, size);
  for (size_t i = 0; bytes != NULL && i < size; i++)
    value = value << 8 | bytes[self->is_big_endian ? i : size - 1 - i];
  return value;
}

uint8_t
sysprof_dbus_read_u8 (BusReader *self)
{
  return (uint8_t) take_number (self, 1);
}

uint32_t
sysprof_dbus_read_u32 (BusReader *self)
{
  return (uint32_t) take_number (self, 4);
}

uint64_t
sysprof_dbus_read_u64 (BusReader *self)
{
  return take_number (self, 8);
}

static const char *
take_text (BusReader *self, size_t length)
{
  const char *text = length < self->size ? (const char *) take (self, length + 1) : NULL;

  if (text != NULL && strnlen (text, length + 1) == length)
    return text;

  self->is_failed = true;
  return "";
}

const char *
sysprof_dbus_read_string (BusReader *self)
{
  return take_text (self, sysprof_dbus_read_u32 (self));
}

const char *
sysprof_dbus_read_signature (BusReader *self)
{
  return take_text (self, sysprof_dbus_read_u8 (self));
}

size_t
sysprof_dbus_read_array (BusReader *self, size_t alignment)
{
  uint32_t size = sysprof_dbus_read_u32 (self);

  sysprof_dbus_read_align (self, alignment);
  if (!self->is_failed && size <= BUS_MOST_ARRAY && size <= self->size - self->at)
    return self->at + size;

  self->is_failed = true;
  return self->at;
}

/* --- values of any type --- */

/* 0 = not a type that a signature may have. */
static size_t
alignment_of (char type)
{
  switch (type)
    {
    case 'y':
    case 'g':
    case 'v':
      return 1;
    case 'n':
    case 'q':
      return 2;
    case 'b':
    case 'i':
    case 'u':
    case 's':
    case 'o':
    case 'a':
    case 'h':
      return 4;
    case 'x':
    case 't':
    case 'd':
    case '(':
    case '{':
      return 8;
    default:
      return 0;
    }
}

/* Returns the text behind the first complete type; NULL if there is none. */
static const char *
type_end (const char *type, unsigned depth)
{
  if (depth > BUS_MOST_DEPTH || alignment_of (*type) == 0)
    return NULL;
  if (*type == 'a')
    return type_end (type + 1, depth + 1);
  if (*type != '(' && *type != '{')
    return type + 1;

  const char close = *type == '(' ? ')' : '}';

  for (type++; *type != close;)
    {
      type = type_end (type, depth + 1);
      if (type == NULL)
        return NULL;
    }
  return type + 1;
}

static void skip_value (BusReader *self, const char *type, unsigned depth);

static void
skip_variant (BusReader *self, unsigned depth)
{
  const char *type = sysprof_dbus_read_signature (self);
  const char *end = type_end (type, 0);

  if (end == NULL || *end != '\0')
    self->is_failed = true;
  else
    skip_value (self, type, depth + 1);
}

static void
skip_members (BusReader *self, const char *type, unsigned depth)
{
  const char close = *type == '(' ? ')' : '}';

  for (type++; *type != close && !self->is_failed; type = type_end (type, 0))
    skip_value (self, type, depth + 1);
}

/* `type` is valid. */
static void
skip_value (BusReader *self, const char *type, unsigned depth)
{
  size_t alignment = alignment_of (*type);

  if (depth > BUS_MOST_DEPTH)
    {
      self->is_failed = true;
      return;
    }
  sysprof_dbus_read_align (self, alignment);
  switch (*type)
    {
    case 's':
    case 'o':
      (void) sysprof_dbus_read_string (self);
      break;
    case 'g':
      (void) sysprof_dbus_read_signature (self);
      break;
    case 'v':
      skip_variant (self, depth);
      break;
    case 'a':
      self->at = sysprof_dbus_read_array (self, alignment_of (type[1]));
      break;
    case '(':
    case '{':
      skip_members (self, type, depth);
      break;
    default:
      (void) take (self, alignment); /* the other types are as long as their alignment */
      break;
    }
}

void
sysprof_dbus_skip (BusReader *self, const char *signature)
{
  if (type_end (signature, 0) == NULL)
    self->is_failed = true;
  else
    skip_value (self, signature, 0);
}

/* --- headers --- */

size_t
sysprof_dbus_message_size (const uint8_t *bytes)
{
  BusReader reader = { bytes, BUS_FIXED_SIZE, 4, bytes[0] == 'B', false };
  uint32_t body = sysprof_dbus_read_u32 (&reader);
  uint32_t fields;
  uint64_t size;

  (void) sysprof_dbus_read_u32 (&reader); /* the serial */
  fields = sysprof_dbus_read_u32 (&reader);
  size = BUS_FIXED_SIZE + (((uint64_t) fields + 7) & ~UINT64_C (7)) + body;
  if ((bytes[0] != 'l' && bytes[0] != 'B') || bytes[3] != PROTOCOL || fields > BUS_MOST_ARRAY ||
      size > BUS_MOST_MESSAGE)
    return 0;
  return (size_t) size;
}

/* Each field is a code and a variant. */
static void
read_field (BusMessage *self, BusReader *reader)
{
  uint8_t code;
  const char *type;

  sysprof_dbus_read_align (reader, 8);
  code = sysprof_dbus_read_u8 (reader);
  const char **const texts[] = { NULL,         &self->path, &self->interface,   &self->member,
                                 &self->error, NULL,        &self->destination, &self->sender };

  type = sysprof_dbus_read_signature (reader);
  if (code < sizeof texts / sizeof texts[0] && texts[code] != NULL &&
      strcmp (type, code == 1 ? "o" : "s") == 0)
    *texts[code] = sysprof_dbus_read_string (reader);
  else if (code == 5 && strcmp (type, "u") == 0)
    self->reply_serial = sysprof_dbus_read_u32 (reader);
  else if (code == 8 && strcmp (type, "g") == 0)
    self->signature = sysprof_dbus_read_signature (reader);
  else
    sysprof_dbus_skip (reader, type);
}

static bool
read_header (BusMessage *self)
{
  BusReader reader = { self->bytes, self->size, 8, self->bytes[0] == 'B', false };
  size_t end, body;

  self->type = self->bytes[1];
  self->flags = self->bytes[2];
  self->serial = sysprof_dbus_read_u32 (&reader);
  end = sysprof_dbus_read_array (&reader, 8);
  while (reader.at < end && !reader.is_failed)
    read_field (self, &reader);
  body = (end + 7) & ~(size_t) 7;
  if (reader.is_failed || reader.at != end || body > self->size)
    return false;

  self->body =
      (BusReader){ self->bytes + body, self->size - body, 0, reader.is_big_endian, false };
  return true;
}

BusMessage *
sysprof_dbus_message_new (uint8_t *bytes, size_t size)
{
  BusMessage *self = calloc (1, sizeof *self);

  if (self == NULL)
    {
      free (bytes);
      return NULL;
    }

  self->bytes = bytes;
  self->size = size;
  self->signature = "";
  if (size >= BUS_FIXED_SIZE && sysprof_dbus_message_size (bytes) != 0 && read_header (self))
    return self;

  sysprof_dbus_message_free (self);
  errno = EBADMSG;
  return NULL;
}

void
sysprof_dbus_message_free (BusMessage *self)
{
  if (self == NULL)
    return;

  for (unsigned i = 0; i < self->n_fds; i++)
    if (self->fds[i] >= 0)
      (void) close (self->fds[i]);
  free (self->bytes);
  free (self);
}
