// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes messages, in the byte order of this machine. */

#include "dbus/dbus.h"

#include <stdlib.h>
#include <string.h>

#define PROTOCOL 1 /* the version */

static uint8_t *
extend (BusWriter *self, size_t size)
{
  if (self->is_failed || size > BUS_MOST_SENT - self->size)
    {
      self->is_failed = true;
      return NULL;
    }
  if (self->size + size > self->allocated)
    {
      size_t allocated = (self->size + size) * 2;
      uint8_t *bytes = realloc (self->bytes, allocated);

      if (bytes == NULL)
        {
          self->is_failed = true;
          return NULL;
        }
      self->bytes = bytes;
      self->allocated = allocated;
    }
  self->size += size;
  return self->bytes + self->size - size;
}

void
sysprof_dbus_write_bytes (BusWriter *self, const void *bytes, size_t size)
{
  uint8_t *to = extend (self, size);

  if (to != NULL && size > 0)
    memcpy (to, bytes, size);
}

void
sysprof_dbus_write_align (BusWriter *self, size_t alignment)
{
  static const uint8_t zeros[8];

  sysprof_dbus_write_bytes (self, zeros, (alignment - self->size % alignment) % alignment);
}

void
sysprof_dbus_write_u8 (BusWriter *self, uint8_t value)
{
  sysprof_dbus_write_bytes (self, &value, sizeof value);
}

void
sysprof_dbus_write_u32 (BusWriter *self, uint32_t value)
{
  sysprof_dbus_write_align (self, sizeof value);
  sysprof_dbus_write_bytes (self, &value, sizeof value);
}

void
sysprof_dbus_write_string (BusWriter *self, const char *text)
{
  size_t length = strlen (text);

  if (length >= BUS_MOST_SENT)
    {
      self->is_failed = true;
      return;
    }
  sysprof_dbus_write_u32 (self, (uint32_t) length);
  sysprof_dbus_write_bytes (self, text, length + 1);
}

/* `signature` has at most 255 bytes. */
void
sysprof_dbus_write_signature (BusWriter *self, const char *signature)
{
  size_t length = strlen (signature);

  sysprof_dbus_write_u8 (self, (uint8_t) length);
  sysprof_dbus_write_bytes (self, signature, length + 1);
}

size_t
sysprof_dbus_begin_array (BusWriter *self, size_t alignment)
{
  size_t position;

  sysprof_dbus_write_u32 (self, 0);
  position = self->size - sizeof (uint32_t);
  sysprof_dbus_write_align (self, alignment);
  return position;
}

void
sysprof_dbus_end_array (BusWriter *self, size_t position, size_t alignment)
{
  size_t start = (position + sizeof (uint32_t) + alignment - 1) / alignment * alignment;
  uint32_t size = (uint32_t) (self->size - start);

  if (!self->is_failed)
    memcpy (self->bytes + position, &size, sizeof size);
}

void
sysprof_dbus_writer_clear (BusWriter *self)
{
  free (self->bytes);
  *self = (BusWriter){ 0 };
}

static void
write_field (BusWriter *self, uint8_t code, const char *type)
{
  sysprof_dbus_write_align (self, 8);
  sysprof_dbus_write_u8 (self, code);
  sysprof_dbus_write_signature (self, type);
}

static void
write_fields (BusWriter *self, const BusHeader *header, unsigned n_fds)
{
  const char *const texts[] = { NULL,          header->path, header->interface,  header->member,
                                header->error, NULL,         header->destination };
  size_t fields = sysprof_dbus_begin_array (self, 8);

  for (uint8_t code = 1; code < sizeof texts / sizeof texts[0]; code++)
    if (texts[code] != NULL)
      {
        write_field (self, code, code == 1 ? "o" : "s");
        sysprof_dbus_write_string (self, texts[code]);
      }
  if (header->reply_serial != 0)
    {
      write_field (self, 5, "u");
      sysprof_dbus_write_u32 (self, header->reply_serial);
    }
  if (header->signature != NULL && *header->signature != '\0')
    {
      write_field (self, 8, "g");
      sysprof_dbus_write_signature (self, header->signature);
    }
  if (n_fds > 0)
    {
      write_field (self, 9, "u");
      sysprof_dbus_write_u32 (self, n_fds);
    }
  sysprof_dbus_end_array (self, fields, 8);
  sysprof_dbus_write_align (self, 8);
}

uint8_t *
sysprof_dbus_serialize (const BusHeader *header,
                        const BusWriter *body,
                        unsigned n_fds,
                        size_t *size)
{
  BusWriter whole = { 0 };
  const uint16_t one = 1;

  sysprof_dbus_write_u8 (&whole, *(const uint8_t *) &one == 1 ? 'l' : 'B');
  sysprof_dbus_write_u8 (&whole, (uint8_t) header->type);
  sysprof_dbus_write_u8 (&whole, header->flags);
  sysprof_dbus_write_u8 (&whole, PROTOCOL);
  sysprof_dbus_write_u32 (&whole, body != NULL ? (uint32_t) body->size : 0);
  sysprof_dbus_write_u32 (&whole, header->serial);
  write_fields (&whole, header, n_fds);
  if (body != NULL)
    sysprof_dbus_write_bytes (&whole, body->bytes, body->size);

  if (whole.is_failed || (body != NULL && body->is_failed))
    {
      sysprof_dbus_writer_clear (&whole);
      return NULL;
    }
  *size = whole.size;
  return whole.bytes;
}
