// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads jitdumps. A jitdump has a header, followed by records with a kind, a size and a time.
 * Source: Linux, tools/perf/Documentation/jitdump-specification.txt. Two of the five kinds give
 * the name and address of code. A third, which comes before the first of these, gives its
 * source lines (debug-lines.c reads them). Unwind rules (UNWINDING_INFO) and kinds of later
 * versions are skipped. */

#include "jit/jit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC         UINT32_C (0x4a695444)
#define MAGIC_SWAPPED UINT32_C (0x4454694a)
#define VERSION       1

#define HEADER_SIZE 40
#define PREFIX_SIZE 16
#define LOAD_SIZE   56 /* including the prefix, up to the name */
#define MOVE_SIZE   64
#define DEBUG_SIZE  32 /* including the prefix, up to the entries */
#define HEAD_SIZE \
  (LOAD_SIZE + 4096 + 1) /* of a record: the part that is parsed; the code follows the name */
#define FLAG_ARCH_TIME 1 /* timestamps of another clock than the recording's */

enum
{
  RECORD_LOAD,
  RECORD_MOVE,
  RECORD_DEBUG_INFO,
  RECORD_CLOSE,
  RECORD_UNWINDING_INFO,
};

/* A function by its number in the dump: the position of its name in the text of the lines. */
typedef struct
{
  uint64_t index;
  size_t name;
  uint32_t name_size; /* 0 = free */
  JitCodeRange code;
} Known;

typedef struct
{
  int fd;               /* or, if that is -1: */
  const uint8_t *bytes; /* [size] */
  uint64_t size;
  bool is_swapped;
  bool has_time;
  uint16_t machine;
  JitLines *lines;
  Known *known;   /* [n_slots] by index */
  size_t n_slots; /* a power of two */
  size_t n_known;
  JitCodeRange *wanted; /* [n_wanted] or NULL */
  size_t n_wanted;
  JitCodeRange debug;      /* of the last such record, for the next code; n_debug 0 = none */
  uint8_t head[HEAD_SIZE]; /* of the current record */
} Dump;

static bool
read_head (Dump *self, uint64_t at, size_t size)
{
  size_t done = 0;

  if (self->fd < 0)
    {
      memcpy (self->head, self->bytes + at, size);
      return true;
    }
  while (done < size)
    {
      ssize_t n = pread (self->fd, self->head + done, size - done, (off_t) (at + done));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return false;
      done += (size_t) n;
    }
  return true;
}

static uint32_t
get_u32 (const Dump *self, size_t at)
{
  uint32_t value;

  memcpy (&value, self->head + at, sizeof value);
  return self->is_swapped ? __builtin_bswap32 (value) : value;
}

static uint64_t
get_u64 (const Dump *self, size_t at)
{
  uint64_t value;

  memcpy (&value, self->head + at, sizeof value);
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
remember (Dump *self, uint64_t index, size_t name, uint32_t name_size, const JitCodeRange *code)
{
  Known *known;

  if (self->n_known >= self->n_slots / 2 && !grow_known (self))
    return false;
  known = find_known (self, index);
  self->n_known += known->name_size == 0;
  *known = (Known){ index, name, name_size, *code };
  return true;
}

/* --- code --- */

static void
find_wanted (Dump *self, const JitCodeRange *code)
{
  for (size_t i = 0; i < self->n_wanted; i++)
    if (self->wanted[i].start == code->start && self->wanted[i].size == code->size &&
        self->wanted[i].time == code->time)
      self->wanted[i] = *code;
}

/* Locates the code in the record at `at` of `record_size` bytes: after the name, if the name is
 * complete. */
static JitCodeRange
locate_code (Dump *self, uint64_t at, uint64_t record_size, uint64_t time, size_t name_size)
{
  JitCodeRange code = { .start = get_u64 (self, 32), .size = get_u64 (self, 40), .time = time };
  uint64_t before = LOAD_SIZE + name_size + 1;
  bool is_cut = before > HEAD_SIZE;

  if (before <= record_size && code.size <= record_size - before)
    code.code = at + (is_cut ? record_size - code.size : before);
  if (self->debug.n_debug > 0 && self->debug.debug_start == code.start)
    {
      code.debug = self->debug.debug;
      code.debug_end = self->debug.debug_end;
      code.n_debug = self->debug.n_debug;
      code.debug_start = code.start;
    }
  return code;
}

/* --- records --- */

/* `size` is that of the head, which is the whole record if the record is not longer. */
static JitStatus
read_load (Dump *self, uint64_t at, uint64_t record_size, size_t size, uint64_t time)
{
  const char *name = (const char *) self->head + LOAD_SIZE;
  uint32_t n_before = self->lines->n;
  JitCodeRange code;
  size_t name_size;
  JitStatus status;

  if (size <= LOAD_SIZE)
    return JIT_CORRUPT;
  name_size = strnlen (name, size - LOAD_SIZE);
  if (name_size == size - LOAD_SIZE && size < HEAD_SIZE)
    return JIT_CORRUPT; /* no terminator */

  code = locate_code (self, at, record_size, time, name_size);
  self->debug.n_debug = 0;
  status = sysprof_jit_lines_add (self->lines, code.start, code.size, time, name, name_size);
  if (status != JIT_OK || self->lines->n == n_before)
    return status;

  find_wanted (self, &code);
  /* The name as the line has it: it may have been truncated. */
  return remember (self, get_u64 (self, 48), self->lines->last_name,
                   (uint32_t) (self->lines->size - self->lines->last_name - 1), &code)
             ? JIT_OK
             : JIT_NO_MEMORY;
}

static JitStatus
read_move (Dump *self, size_t size, uint64_t time)
{
  const Known *known;
  JitCodeRange code;

  if (size < MOVE_SIZE)
    return JIT_CORRUPT;
  if (self->n_slots == 0)
    return JIT_OK;
  known = find_known (self, get_u64 (self, 56));
  if (known->name_size == 0)
    return JIT_OK;

  code = known->code;
  code.start = get_u64 (self, 40);
  code.time = time;
  if (code.size == get_u64 (self, 48)) /* the size must not change */
    find_wanted (self, &code);
  return sysprof_jit_lines_add (self->lines, get_u64 (self, 40), get_u64 (self, 48), time,
                                self->lines->text + known->name, known->name_size);
}

static JitStatus
read_debug_info (Dump *self, uint64_t at, uint64_t record_size, size_t size)
{
  if (size < DEBUG_SIZE)
    return JIT_CORRUPT;
  self->debug = (JitCodeRange){ .debug = at + DEBUG_SIZE,
                                .debug_end = at + record_size,
                                .debug_start = get_u64 (self, 16),
                                .n_debug = get_u64 (self, 24) };
  return JIT_OK;
}

static JitStatus
read_records (Dump *self, uint64_t at)
{
  while (self->size - at >= PREFIX_SIZE)
    {
      size_t head_size = self->size - at < HEAD_SIZE ? (size_t) (self->size - at) : HEAD_SIZE;
      JitStatus status = JIT_OK;
      uint32_t kind, size;
      uint64_t time;

      if (!read_head (self, at, head_size))
        return JIT_IO_ERROR;
      kind = get_u32 (self, 0);
      size = get_u32 (self, 4);
      time = self->has_time ? get_u64 (self, 8) : 0;
      if (size < PREFIX_SIZE)
        return JIT_CORRUPT;
      if (size > self->size - at)
        return JIT_TRUNCATED;

      if (kind == RECORD_LOAD)
        status = read_load (self, at, size, size < head_size ? size : head_size, time);
      else if (kind == RECORD_MOVE)
        status = read_move (self, size, time);
      else if (kind == RECORD_DEBUG_INFO && self->wanted != NULL)
        status = read_debug_info (self, at, size, size < head_size ? size : head_size);
      else if (kind == RECORD_CLOSE)
        return JIT_OK;
      if (status != JIT_OK)
        return status;
      at += size;
    }
  return at == self->size ? JIT_OK : JIT_TRUNCATED;
}

static JitStatus
read_dump (Dump *self)
{
  uint32_t magic, header_size;
  size_t size = self->size < HEADER_SIZE ? (size_t) self->size : HEADER_SIZE;
  JitStatus status;

  if (!read_head (self, 0, size))
    return JIT_IO_ERROR;
  if (size < sizeof magic)
    return size == 0 ? JIT_TRUNCATED : JIT_NOT_A_DUMP;
  magic = get_u32 (self, 0);
  if (magic != MAGIC && magic != MAGIC_SWAPPED)
    return JIT_NOT_A_DUMP;
  if (size < HEADER_SIZE)
    return JIT_TRUNCATED;

  self->is_swapped = magic == MAGIC_SWAPPED;
  header_size = get_u32 (self, 8);
  if (get_u32 (self, 4) != VERSION || header_size < HEADER_SIZE)
    return JIT_CORRUPT;
  if (header_size > self->size)
    return JIT_TRUNCATED;
  self->machine = (uint16_t) get_u32 (self, 12);
  self->has_time = (get_u64 (self, 32) & FLAG_ARCH_TIME) == 0;

  status = read_records (self, header_size);
  free (self->known);
  return status;
}

JitStatus
sysprof_jit_read_dump (const uint8_t *bytes, size_t size, JitLines *lines)
{
  Dump dump = { .fd = -1, .bytes = bytes, .size = size, .lines = lines };

  return read_dump (&dump);
}

JitStatus
sysprof_jit_read_dump_file (int fd, uint64_t size, JitLines *lines)
{
  Dump dump = { .fd = fd, .size = size, .lines = lines };

  return read_dump (&dump);
}

JitStatus
sysprof_jit_find_code (int fd,
                       uint64_t size,
                       JitCodeRange *ranges,
                       size_t n,
                       JitDumpFacts *facts)
{
  JitLines lines = { 0 };
  Dump dump = { .fd = fd, .size = size, .lines = &lines, .wanted = ranges, .n_wanted = n };
  JitStatus status;

  *facts = (JitDumpFacts){ 0 };
  for (size_t i = 0; i < n; i++)
    ranges[i] = (JitCodeRange){ .start = ranges[i].start,
                                .size = ranges[i].size,
                                .time = ranges[i].time };
  status = read_dump (&dump);
  facts->machine = dump.machine;
  facts->is_swapped = dump.is_swapped;
  sysprof_jit_lines_clear (&lines);
  return status;
}
