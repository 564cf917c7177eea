// SPDX-License-Identifier: GPL-3.0-or-later

/* A header, then records of a kind, a size and a time. Source: Linux,
 * tools/perf/Documentation/jitdump-specification.txt. Of the five kinds two say what code is called and where it is; lines
 * (DEBUG_INFO) and call-frame rules (UNWINDING_INFO) are passed over, as is what later versions add. */

#include "jit/jit.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC         UINT32_C (0x4a695444)
#define MAGIC_SWAPPED UINT32_C (0x4454694a)
#define VERSION       1

#define HEADER_SIZE    40
#define PREFIX_SIZE    16
#define LOAD_SIZE      56 /* with the prefix, before the name */
#define MOVE_SIZE      64
#define FLAG_ARCH_TIME 1 /* of a clock that is not the recording's */

enum
{
  RECORD_LOAD,
  RECORD_MOVE,
  RECORD_DEBUG_INFO,
  RECORD_CLOSE,
  RECORD_UNWINDING_INFO,
};

/* A function by its number in the dump: where its name lies in the text of the lines. */
typedef struct
{
  uint64_t index;
  size_t name;
  uint32_t name_size; /* 0 = free */
} Known;

typedef struct
{
  const uint8_t *bytes;
  size_t size;
  bool is_swapped;
  bool has_time;
  JitLines *lines;
  Known *known;   /* [n_slots] by index */
  size_t n_slots; /* a power of two */
  size_t n_known;
} Dump;

static uint32_t
get_u32 (const Dump *self, size_t at)
{
  uint32_t value;

  memcpy (&value, self->bytes + at, sizeof value);
  return self->is_swapped ? __builtin_bswap32 (value) : value;
}

static uint64_t
get_u64 (const Dump *self, size_t at)
{
  uint64_t value;

  memcpy (&value, self->bytes + at, sizeof value);
  return self->is_swapped ? __builtin_bswap64 (value) : value;
}

/* --- functions by their number --- */

static Known *
find_known (const Dump *self, uint64_t index)
{
  size_t mask = self->n_slots - 1;
  size_t at = (size_t) ((index * UINT64_C (0x9e3779b97f4a7c15)) >> 32) & mask;

  while (self->known[at].name_size != 0 && self->known[at].index != index)
    at = (at + 1) & mask;
  return &self->known[at];
}

static bool
grow_known (Dump *self)
{
  Dump old = *self;

  self->n_slots = old.n_slots > 0 ? old.n_slots * 2 : 1024;
  self->known = calloc (self->n_slots, sizeof *self->known);
  if (self->known == NULL)
    {
      *self = old;
      return false;
    }
  for (size_t i = 0; i < old.n_slots; i++)
    if (old.known[i].name_size != 0)
      *find_known (self, old.known[i].index) = old.known[i];
  free (old.known);
  return true;
}

static bool
remember (Dump *self, uint64_t index, size_t name, uint32_t name_size)
{
  Known *known;

  if (self->n_known >= self->n_slots / 2 && !grow_known (self))
    return false;
  known = find_known (self, index);
  self->n_known += known->name_size == 0;
  *known = (Known){ index, name, name_size };
  return true;
}

/* --- records --- */

static JitStatus
read_load (Dump *self, size_t at, size_t size, uint64_t time)
{
  const char *name = (const char *) self->bytes + at + LOAD_SIZE;
  uint32_t n_before = self->lines->n;
  const char *end;
  JitStatus status;

  if (size < LOAD_SIZE)
    return JIT_CORRUPT;
  end = memchr (name, '\0', size - LOAD_SIZE);
  if (end == NULL)
    return JIT_CORRUPT;

  status = sysprof_jit_lines_add (self->lines, get_u64 (self, at + 32), get_u64 (self, at + 40),
                                  time, name, (size_t) (end - name));
  if (status != JIT_OK || self->lines->n == n_before)
    return status;

  /* As it stands in the line: it may have been cut. */
  return remember (self, get_u64 (self, at + 48), self->lines->last_name,
                   (uint32_t) (self->lines->size - self->lines->last_name - 1))
             ? JIT_OK
             : JIT_NO_MEMORY;
}

static JitStatus
read_move (Dump *self, size_t at, size_t size, uint64_t time)
{
  const Known *known;

  if (size < MOVE_SIZE)
    return JIT_CORRUPT;
  if (self->n_slots == 0)
    return JIT_OK;
  known = find_known (self, get_u64 (self, at + 56));
  if (known->name_size == 0)
    return JIT_OK;

  return sysprof_jit_lines_add (self->lines, get_u64 (self, at + 40), get_u64 (self, at + 48),
                                time, self->lines->text + known->name, known->name_size);
}

static JitStatus
read_records (Dump *self, size_t at)
{
  while (self->size - at >= PREFIX_SIZE)
    {
      uint32_t kind = get_u32 (self, at);
      uint32_t size = get_u32 (self, at + 4);
      uint64_t time = self->has_time ? get_u64 (self, at + 8) : 0;
      JitStatus status = JIT_OK;

      if (size < PREFIX_SIZE)
        return JIT_CORRUPT;
      if (size > self->size - at)
        return JIT_TRUNCATED;

      if (kind == RECORD_LOAD)
        status = read_load (self, at, size, time);
      else if (kind == RECORD_MOVE)
        status = read_move (self, at, size, time);
      else if (kind == RECORD_CLOSE)
        return JIT_OK;
      if (status != JIT_OK)
        return status;
      at += size;
    }
  return at == self->size ? JIT_OK : JIT_TRUNCATED;
}

JitStatus
sysprof_jit_read_dump (const uint8_t *bytes, size_t size, JitLines *lines)
{
  Dump dump = { .bytes = bytes, .size = size, .lines = lines };
  uint32_t magic, header_size;
  JitStatus status;

  if (size < sizeof magic)
    return size == 0 ? JIT_TRUNCATED : JIT_NOT_A_DUMP;
  magic = get_u32 (&dump, 0);
  if (magic != MAGIC && magic != MAGIC_SWAPPED)
    return JIT_NOT_A_DUMP;
  if (size < HEADER_SIZE)
    return JIT_TRUNCATED;

  dump.is_swapped = magic == MAGIC_SWAPPED;
  header_size = get_u32 (&dump, 8);
  if (get_u32 (&dump, 4) != VERSION || header_size < HEADER_SIZE)
    return JIT_CORRUPT;
  if (header_size > size)
    return JIT_TRUNCATED;
  dump.has_time = (get_u64 (&dump, 32) & FLAG_ARCH_TIME) == 0;

  status = read_records (&dump, header_size);
  free (dump.known);
  return status;
}
