// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads untrusted call-frame bytes, in the byte order of the machine. Inline, because a
 * megabyte of code has two hundred thousand of these numbers. Each function takes a value from
 * the front; FALSE: there are not enough bytes. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct
{
  const uint8_t *at;
  const uint8_t *end; /* exclusive */
} Cursor;

static inline size_t
cursor_left (const Cursor *self)
{
  return (size_t) (self->end - self->at);
}

static inline bool
cursor_skip (Cursor *self, uint64_t size)
{
  if (size > cursor_left (self))
    return false;

  self->at += size;
  return true;
}

static inline bool
cursor_u8 (Cursor *self, uint8_t *value)
{
  if (self->at == self->end)
    return false;

  *value = *self->at++;
  return true;
}

/* An unsigned integer of 2, 4 or 8 bytes. */
static inline bool
cursor_fixed (Cursor *self, unsigned size, uint64_t *value)
{
  uint64_t wide = 0;

  if (size > cursor_left (self))
    return false;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy (&wide, self->at, size);
#else
  memcpy ((uint8_t *) &wide + sizeof wide - size, self->at, size);
#endif
  self->at += size;
  *value = wide;
  return true;
}

static inline bool
cursor_uleb128 (Cursor *self, uint64_t *value)
{
  uint64_t result = 0;
  uint8_t byte;

  /* Ten bytes hold 64 bits; longer numbers are invalid. */
  for (unsigned shift = 0; shift < 70; shift += 7)
    {
      if (!cursor_u8 (self, &byte))
        return false;
      if (shift < 64)
        result |= (uint64_t) (byte & 0x7f) << shift;
      if (!(byte & 0x80))
        {
          *value = result;
          return true;
        }
    }

  return false;
}

static inline bool
cursor_sleb128 (Cursor *self, int64_t *value)
{
  uint64_t result = 0;
  uint8_t byte;

  for (unsigned shift = 0; shift < 70; shift += 7)
    {
      if (!cursor_u8 (self, &byte))
        return false;
      if (shift < 64)
        result |= (uint64_t) (byte & 0x7f) << shift;
      if (!(byte & 0x80))
        {
          if ((byte & 0x40) && shift < 57)
            result |= UINT64_MAX << (shift + 7);
          *value = (int64_t) result;
          return true;
        }
    }

  return false;
}
