// SPDX-License-Identifier: GPL-3.0-or-later

/* Sources of untrusted bytes, and a bounded cursor over them. */

#pragma once

#include "elf/elf.h"

#include <string.h>

/* A file that is read with positioned reads, or memory. *Owned* by its image; descriptor and
 * memory are borrowed. */
typedef struct
{
  int fd;                /* -1 = memory */
  const uint8_t *memory; /* [size] or NULL */
  uint64_t size;         /* bytes */
} ElfSource;

/* Reads all `size` bytes at `offset`, or none. */
ElfStatus
sysprof_elf_source_read (const ElfSource *self, uint64_t offset, void *into, size_t size);

/* The same into new memory, with a NUL after the last byte; free with free(). Fails for more
 * than `limit` bytes before it allocates. */
ElfStatus sysprof_elf_source_read_new (const ElfSource *self,
                                       uint64_t offset,
                                       uint64_t size,
                                       uint64_t limit,
                                       uint8_t **bytes);

typedef struct
{
  const uint8_t *at;
  const uint8_t *end; /* exclusive */
  bool is_64;         /* size of the words that sysprof_bytes_word() takes */
  bool is_swapped;    /* integers have the other byte order */
} Bytes;

static inline size_t
sysprof_bytes_left (const Bytes *self)
{
  return (size_t) (self->end - self->at);
}

/* Each takes its value from the front. FALSE: there are not enough bytes. */
bool sysprof_bytes_u8 (Bytes *self, uint8_t *value);
bool sysprof_bytes_u16 (Bytes *self, uint16_t *value);
bool sysprof_bytes_u32 (Bytes *self, uint32_t *value);
bool sysprof_bytes_u64 (Bytes *self, uint64_t *value);
bool sysprof_bytes_word (Bytes *self, uint64_t *value);    /* 4 or 8 bytes by class */
bool sysprof_bytes_uleb128 (Bytes *self, uint64_t *value); /* at most 64 bits */
bool sysprof_bytes_sleb128 (Bytes *self, int64_t *value);
bool sysprof_bytes_take (Bytes *self, size_t size, const uint8_t **bytes);
bool sysprof_bytes_string (Bytes *self, const char **string); /* NUL within the bytes */

/* Values at an address that the caller has checked. */
static inline uint16_t
sysprof_bytes_peek_u16 (const uint8_t *at, bool is_swapped)
{
  uint16_t value;

  memcpy (&value, at, sizeof value);
  return is_swapped ? __builtin_bswap16 (value) : value;
}

static inline uint32_t
sysprof_bytes_peek_u32 (const uint8_t *at, bool is_swapped)
{
  uint32_t value;

  memcpy (&value, at, sizeof value);
  return is_swapped ? __builtin_bswap32 (value) : value;
}

static inline uint64_t
sysprof_bytes_peek_u64 (const uint8_t *at, bool is_swapped)
{
  uint64_t value;

  memcpy (&value, at, sizeof value);
  return is_swapped ? __builtin_bswap64 (value) : value;
}
