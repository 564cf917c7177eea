// SPDX-License-Identifier: GPL-3.0-or-later

/* D-Bus messages: their positions, and the headers before their bodies.
 *
 * A header is parsed on demand, by a cursor that knows its end, because messages are untrusted.
 *
 * Source: D-Bus Specification, "Message Protocol". */

#include "store/builder.h"

#define MESSAGE_AT  28
#define FIXED_SIZE  12  /* before the array of fields */
#define NO_REPLY    0x1 /* flag of a message */
#define TOO_LARGE   0x1 /* flag of a frame */
#define MOST_FIELDS 256 /* nine are defined */

enum
{
  FIELD_PATH = 1,
  FIELD_INTERFACE,
  FIELD_MEMBER,
  FIELD_ERROR_NAME,
  FIELD_REPLY_SERIAL,
  FIELD_DESTINATION,
  FIELD_SENDER,
  FIELD_SIGNATURE,
};

static const char nothing[] = "";
static const Text no_text = { nothing, nothing };

/* Alignment counts from the message's begin. */
typedef struct
{
  Frame bytes; /* the message; not a frame, but read like one */
  uint32_t at;
  uint32_t end;
} Cursor;

void
sysprof_builder_read_dbus (Builder *self)
{
  Store *store = self->store;
  const FrameList *frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE];
  bool is_big_endian = store->is_swapped == (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  size_t left_until = 0;

  store->dbus = g_new (DBusMessage, frames->n);
  for (uint32_t i = 0; i < frames->n && sysprof_builder_goes_on (self, i, frames->n); i++)
    {
      FrameNo number = frames->frame[i];
      Frame frame = sysprof_builder_next_frame (self, number, &left_until);
      uint16_t word = sysprof_frame_u16 (&frame, 24);
      unsigned flags = is_big_endian ? word & 0x3fff : word >> 2;

      store->dbus[i] = (DBusMessage){
        .time = store->frames.time[number],
        .pid = store->frames.pid[number],
        .cpu = store->frames.cpu[number],
        .bus = (uint8_t) (is_big_endian ? word >> 14 : word & 3),
        .is_too_large = (flags & TOO_LARGE) != 0,
        .size = (uint16_t) sysprof_frame_count (&frame, 26, MESSAGE_AT, 1),
        .offset = store->frames.offset[number] + MESSAGE_AT,
      };
    }

  store->n_dbus = frames->n;
}

static bool
skip (Cursor *self, uint32_t size)
{
  if (size > self->end - self->at)
    return false;

  self->at += size;
  return true;
}

static bool
align (Cursor *self, uint32_t size)
{
  return skip (self, -self->at & (size - 1));
}

static bool
read_u8 (Cursor *self, uint8_t *value)
{
  if (self->at == self->end)
    return false;

  *value = self->bytes.bytes[self->at++];
  return true;
}

static bool
read_u32 (Cursor *self, uint32_t *value)
{
  if (!align (self, 4) || self->end - self->at < 4)
    return false;

  *value = sysprof_frame_u32 (&self->bytes, self->at);
  self->at += 4;
  return true;
}

/* `size` bytes and a NUL. */
static bool
read_text (Cursor *self, uint32_t size, Text *text)
{
  const char *begin = (const char *) self->bytes.bytes + self->at;

  if (size == UINT32_MAX || !skip (self, size + 1))
    return false;

  *text = (Text){ begin, begin + strnlen (begin, size) };
  return true;
}

static bool
read_string (Cursor *self, Text *text)
{
  uint32_t size;

  return read_u32 (self, &size) && read_text (self, size, text);
}

static bool
read_signature (Cursor *self, Text *text)
{
  uint8_t size;

  return read_u8 (self, &size) && read_text (self, size, text);
}

/* A variant of a basic type; headers contain no others. */
static bool
read_variant (Cursor *self, Text *text, uint32_t *number)
{
  Text type;

  if (!read_signature (self, &type))
    return false;
  if (sysprof_text_equal (type, "s") || sysprof_text_equal (type, "o"))
    return read_string (self, text);
  if (sysprof_text_equal (type, "g"))
    return read_signature (self, text);
  return sysprof_text_equal (type, "u") && read_u32 (self, number);
}

static void
keep_field (DBusHeader *header, uint8_t code, Text text, uint32_t number)
{
  Text *const texts[] = {
    [FIELD_PATH] = &header->path,
    [FIELD_INTERFACE] = &header->interface,
    [FIELD_MEMBER] = &header->member,
    [FIELD_ERROR_NAME] = &header->error_name,
    [FIELD_DESTINATION] = &header->destination,
    [FIELD_SENDER] = &header->sender,
    [FIELD_SIGNATURE] = &header->signature,
  };

  if (code == FIELD_REPLY_SERIAL)
    header->reply_serial = number;
  else if (code < G_N_ELEMENTS (texts) && texts[code] != NULL)
    *texts[code] = text;
}

static bool
read_fields (Cursor *self, DBusHeader *header)
{
  for (unsigned i = 0; i < MOST_FIELDS && self->at < self->end; i++)
    {
      Text text = no_text;
      uint32_t number = 0;
      uint8_t code;

      if (!align (self, 8))
        return false;
      if (!read_u8 (self, &code) || !read_variant (self, &text, &number))
        return false;
      keep_field (header, code, text, number);
    }

  return self->at == self->end;
}

bool
sysprof_store_read_dbus_header (const Store *self, uint32_t i, DBusHeader *header)
{
  const DBusMessage *message = &self->dbus[i];
  Cursor cursor = { .bytes = { .bytes = self->bytes + message->offset, .size = message->size },
                    .at = FIXED_SIZE,
                    .end = message->size };
  const uint8_t *bytes = cursor.bytes.bytes;
  uint32_t body_size, fields_size;

  *header = (DBusHeader){
    .path = no_text,
    .interface = no_text,
    .member = no_text,
    .error_name = no_text,
    .destination = no_text,
    .sender = no_text,
    .signature = no_text,
  };
  if (message->size < FIXED_SIZE || (bytes[0] != 'l' && bytes[0] != 'B'))
    return false;

  header->is_big_endian = bytes[0] == 'B';
  header->type = bytes[1];
  header->wants_no_reply = (bytes[2] & NO_REPLY) != 0;
  cursor.bytes.is_swapped = header->is_big_endian == (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  body_size = sysprof_frame_u32 (&cursor.bytes, 4);
  header->serial = sysprof_frame_u32 (&cursor.bytes, 8);
  if (!read_u32 (&cursor, &fields_size) || fields_size > cursor.end - cursor.at)
    return false;

  cursor.end = cursor.at + fields_size;
  if (!read_fields (&cursor, header))
    return false;

  cursor.end = message->size;
  if (!align (&cursor, 8))
    cursor.at = cursor.end;
  header->body = message->offset + cursor.at;
  header->body_size = MIN (body_size, cursor.end - cursor.at);
  return true;
}
