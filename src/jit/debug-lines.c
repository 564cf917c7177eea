// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the entries of a DEBUG_INFO record of a jitdump: address, line, discriminator, name of
 * the file. */

#include "jit/jit.h"

#include <string.h>

#define ENTRY_SIZE 16 /* before the name */

/* `perf inject` converts dumps to ELF files, with the code after a header of 64 bytes, and
 * takes these entries for addresses in that file. Programs that support it (V8) write all
 * entries too high by this much. */
#define HEADER_SHIFT 0x40

static const char as_before[] = "\xff"; /* the same file as in the previous entry */

static uint64_t
get (const JitDebugReader *self, size_t at, size_t size)
{
  uint64_t wide;
  uint32_t narrow;

  if (size == sizeof narrow)
    {
      memcpy (&narrow, self->at + at, sizeof narrow);
      return self->is_swapped ? __builtin_bswap32 (narrow) : narrow;
    }
  memcpy (&wide, self->at + at, sizeof wide);
  return self->is_swapped ? __builtin_bswap64 (wide) : wide;
}

static bool
read_entry (JitDebugReader *self, JitLine *line)
{
  const char *name;
  size_t room, length;

  if (self->n_left == 0 || (size_t) (self->end - self->at) <= ENTRY_SIZE)
    return false;
  name = (const char *) self->at + ENTRY_SIZE;
  room = (size_t) (self->end - self->at) - ENTRY_SIZE;
  length = strnlen (name, room);
  if (length == room)
    return false; /* no terminator */

  if (strcmp (name, as_before) != 0)
    self->file = name;
  line->address = get (self, 0, 8) + self->shift;
  line->line = (uint32_t) get (self, 8, 4);
  line->file = self->file;
  self->at += ENTRY_SIZE + length + 1;
  return true;
}

/* Some programs (Node.js 18) write names with NULs in them, which produces invalid entries.
 * These are skipped. */
static bool
read_entry_within (JitDebugReader *self, JitLine *line)
{
  while (read_entry (self, line))
    if (line->address - self->shift - self->start < self->size + HEADER_SHIFT)
      {
        self->n_left--;
        return true;
      }
  return false;
}

static bool
is_all_behind (JitDebugReader self, uint64_t address)
{
  JitLine line;
  bool has_some = false;

  while (read_entry_within (&self, &line))
    {
      if (line.address < address)
        return false;
      has_some = true;
    }
  return has_some;
}

void
sysprof_jit_debug_reader_init (JitDebugReader *self,
                               const JitCodeRange *range,
                               const JitDumpFacts *facts,
                               const uint8_t *bytes,
                               size_t size)
{
  *self = (JitDebugReader){ .at = bytes,
                            .end = bytes + size,
                            .n_left = range->n_debug,
                            .start = range->debug_start,
                            .size = range->size,
                            .is_swapped = facts->is_swapped,
                            .file = "" };
  if (is_all_behind (*self, range->debug_start + HEADER_SHIFT))
    self->shift = UINT64_C (0) - HEADER_SHIFT;
  self->shift += range->start - range->debug_start;
}

bool
sysprof_jit_debug_reader_next (JitDebugReader *self, JitLine *line)
{
  return read_entry_within (self, line);
}
