// SPDX-License-Identifier: GPL-3.0-or-later

/* A cursor over bytes nobody vouches for. It remembers that something was not there: what is taken then is 0, and who
 * used it asks at the end. Inline, as there are millions of steps. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct
{
  const uint8_t *at;
  const uint8_t *end; /* first byte behind */
  bool is_swapped;    /* integers are of the other byte order */
  bool is_bad;        /* something was not there */
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
  else if (size > 0) /* a cursor over nothing has no place to move from */
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

/* The next `size` bytes as they stand there; zeros where there are fewer. */
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
      /* In the file's order, which is ours unless it is swapped. */
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

/* Digits beyond 64 bits are dropped, as many as there are. */
static inline uint64_t
cursor_uleb128 (Cursor *self)
{
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;

  /* Most have one byte. */
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

/* Up to its NUL; NULL where there is none. */
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
