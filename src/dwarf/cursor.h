// SPDX-License-Identifier: GPL-3.0-or-later

/* A cursor over untrusted bytes with a sticky error: past the end, values are 0, and the caller
 * checks for the error at the end. Inline, because there are millions of steps. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct
{
  const uint8_t *at;
  const uint8_t *end; /* exclusive */
  bool is_swapped;    /* integers have the other byte order */
  bool is_bad;        /* a value was past the end */
} Cursor;

static inline size_t
cursor_left (const Cursor *self)
{
  return (size_t) (self->end - self->at);
}

static inline void
cursor_fail (Cursor *self)
{
  self->is_bad = true;
  self->at = self->end;
}

static inline void
cursor_skip (Cursor *self, uint64_t size)
{
  if (size > cursor_left (self))
    cursor_fail (self);
  else if (size > 0) /* an empty cursor may be NULL, which must not be added to */
    self->at += size;
}

static inline uint8_t
cursor_u8 (Cursor *self)
{
  if (self->at == self->end)
    {
      self->is_bad = true;
      return 0;
    }
  return *self->at++;
}

/* Copies the next `size` bytes; zeros if there are fewer. */
static inline void
cursor_take (Cursor *self, void *value, size_t size)
{
  if (cursor_left (self) < size)
    {
      cursor_fail (self);
      memset (value, 0, size);
      return;
    }
  memcpy (value, self->at, size);
  self->at += size;
}

static inline uint16_t
cursor_u16 (Cursor *self)
{
  uint16_t value;

  cursor_take (self, &value, sizeof value);
  return self->is_swapped ? __builtin_bswap16 (value) : value;
}

static inline uint32_t
cursor_u32 (Cursor *self)
{
  uint32_t value;

  cursor_take (self, &value, sizeof value);
  return self->is_swapped ? __builtin_bswap32 (value) : value;
}

static inline uint64_t
cursor_u64 (Cursor *self)
{
  uint64_t value;

  cursor_take (self, &value, sizeof value);
  return self->is_swapped ? __builtin_bswap64 (value) : value;
}

/* An integer of 1, 2, 3, 4 or 8 bytes. */
static inline uint64_t
cursor_uint (Cursor *self, unsigned size)
{
  uint32_t low, high;

  switch (size)
    {
    case 1:
      return cursor_u8 (self);
    case 2:
      return cursor_u16 (self);
    case 3:
      /* In the file's byte order, which is that of the machine unless it is swapped. */
      low = cursor_u8 (self);
      low |= (uint32_t) cursor_u8 (self) << 8;
      high = cursor_u8 (self);
      low |= high << 16;
      if (self->is_swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
        low = (low & 0xff00) | (low & 0xff) << 16 | low >> 16;
      return low;
    case 4:
      return cursor_u32 (self);
    case 8:
      return cursor_u64 (self);
    default:
      cursor_fail (self);
      return 0;
    }
}

/* Digits beyond 64 bits are dropped. */
static inline uint64_t
cursor_uleb128 (Cursor *self)
{
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;

  /* Most values have one byte. */
  if (self->at != self->end && (*self->at & 0x80) == 0)
    return *self->at++;

  do
    {
      byte = cursor_u8 (self);
      if (shift < 64)
        value |= (uint64_t) (byte & 0x7f) << shift;
      shift += 7;
    }
  while (byte & 0x80 && shift < 700);

  return value;
}

static inline int64_t
cursor_sleb128 (Cursor *self)
{
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;

  do
    {
      byte = cursor_u8 (self);
      if (shift < 64)
        value |= (uint64_t) (byte & 0x7f) << shift;
      shift += 7;
    }
  while (byte & 0x80 && shift < 700);

  if (shift < 64 && byte & 0x40)
    value |= UINT64_MAX << shift;
  return (int64_t) value;
}

/* A string up to its NUL; NULL if there is no NUL. */
static inline const char *
cursor_string (Cursor *self)
{
  const char *string = (const char *) self->at;
  const uint8_t *nul = cursor_left (self) > 0 ? memchr (self->at, 0, cursor_left (self)) : NULL;

  if (nul == NULL)
    {
      cursor_fail (self);
      return NULL;
    }
  self->at = nul + 1;
  return string;
}
