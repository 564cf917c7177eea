// SPDX-License-Identifier: GPL-3.0-or-later

/* One frame of the file, and how to read it. Offsets are those of docs/format.md.
 *
 * The bytes are never accessed through a struct: they may be unaligned and of the other byte
 * order. Numbers are read by offset; the caller stays inside the part that
 * sysprof_capture_frame_validate() has checked. Texts may have no NUL, and end with their field
 * or with the frame. */

#pragma once

#include "capture/capture.h"
#include "util/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Types are those of the format, and two of ours: */
enum
{
  FRAME_UNKNOWN = 0, /* of a type that we do not know, or one that contradicts itself */
  FRAME_INDEX = SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE + 1, /* in the file a timestamp */
};

#define FRAME_HEADER_SIZE 24
#define FILE_HEADER_SIZE  256

/* The fixed part of its type is always there, whatever `size` says. */
typedef struct
{
  const uint8_t *bytes; /* [size] */
  uint32_t size;        /* the frame's own length, padding included */
  bool is_swapped;
} Frame;

static inline uint16_t
sysprof_frame_u16 (const Frame *self, size_t at)
{
  uint16_t value;

  memcpy (&value, self->bytes + at, sizeof value);
  return self->is_swapped ? __builtin_bswap16 (value) : value;
}

static inline uint32_t
sysprof_frame_u32 (const Frame *self, size_t at)
{
  uint32_t value;

  memcpy (&value, self->bytes + at, sizeof value);
  return self->is_swapped ? __builtin_bswap32 (value) : value;
}

static inline uint64_t
sysprof_frame_u64 (const Frame *self, size_t at)
{
  uint64_t value;

  memcpy (&value, self->bytes + at, sizeof value);
  return self->is_swapped ? __builtin_bswap64 (value) : value;
}

static inline int32_t
sysprof_frame_i32 (const Frame *self, size_t at)
{
  return (int32_t) sysprof_frame_u32 (self, at);
}

static inline int64_t
sysprof_frame_i64 (const Frame *self, size_t at)
{
  return (int64_t) sysprof_frame_u64 (self, at);
}

/* How many items of `item_size` bytes lie at `at`: what the u16 at `count_at` says, but never
 * more than fit, for a mapped file may have changed since it was checked. */
static inline uint32_t
sysprof_frame_count (const Frame *self, size_t count_at, size_t at, size_t item_size)
{
  uint32_t count = sysprof_frame_u16 (self, count_at);
  size_t room = self->size < at ? 0 : (self->size - at) / item_size;

  return count < room ? count : (uint32_t) room;
}

/* The text at `at`, up to its NUL, the end of its field of `size` bytes, or the frame's end. */
static inline Text
sysprof_frame_field (const Frame *self, size_t at, size_t size)
{
  const char *begin = (const char *) self->bytes + at;
  size_t most = at >= self->size ? 0 : self->size - at;

  most = size < most ? size : most;
  return (Text){ begin, begin + strnlen (begin, most) };
}

static inline Text
sysprof_frame_text (const Frame *self, size_t at)
{
  return sysprof_frame_field (self, at, SIZE_MAX);
}

/* What type the frame really is: FRAME_INDEX for a timestamp that is one, FRAME_UNKNOWN for
 * what we do not know. */
static inline uint8_t
sysprof_frame_type (const Frame *self)
{
  uint8_t type = self->bytes[16];

  if (type == SYSPROF_CAPTURE_FRAME_TIMESTAMP &&
      sysprof_capture_frame_is_index (self->bytes, self->is_swapped))
    return FRAME_INDEX;

  return sysprof_capture_frame_type_is_known (type) ? type : FRAME_UNKNOWN;
}
