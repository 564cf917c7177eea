// SPDX-License-Identifier: GPL-3.0-or-later

/* Two kinds of code are known by themselves: what a process begins with, and what a signal handler returns to. */

#include "unwind/gap.h"

#include "bpf/bpf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* mov $15, %rax (rt_sigreturn); syscall. The kernel, debuggers and unwinders know signal frames by these bytes. */
static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

/* What begins a process is short. Where other code without rules follows it, so much of it is believed. */
#define MOST_ENTRY 16  /* bytes */
#define MOST_GAP   128 /* bytes of code without rules that all belong to the entry */

static bool
add_entry (GapReader *self, uint64_t start, uint64_t gap_end, CfiRow row, void *data)
{
  uint64_t entry = sysprof_elf_image_entry (self->image);
  uint64_t end;

  if (entry < start || entry >= gap_end || entry == 0)
    return false;

  end = gap_end - entry <= MOST_GAP ? gap_end : entry + MOST_ENTRY;
  row (data, entry, RULE_END);
  row (data, end, RULE_NONE);
  return true;
}

static bool
add_sigreturns (GapReader *self, uint64_t start, uint64_t gap_end, CfiRow row, void *data)
{
  uint64_t size = gap_end - start;
  uint8_t *bytes, *at;
  bool has_found = false;

  if (size < sizeof sigreturn ||
      sysprof_elf_image_read_code (self->image, start, gap_end, &bytes) != ELF_OK)
    return false;

  at = bytes;
  while ((at = memmem (at, size - (uint64_t) (at - bytes), sigreturn, sizeof sigreturn)) !=
         NULL)
    {
      uint64_t address = start + (uint64_t) (at - bytes);

      /* From the byte before, as a handler's return address is looked up. */
      row (data, address > start ? address - 1 : address, RULE_SIGNAL);
      at += sizeof sigreturn;
      row (data, start + (uint64_t) (at - bytes), RULE_NONE);
      has_found = true;
    }

  free (bytes);
  return has_found;
}

bool
sysprof_gap_reader_read (GapReader *self,
                         uint64_t start,
                         uint64_t gap_end,
                         CfiRow row,
                         void *data)
{
  if (sysprof_elf_image_machine (self->image) != EM_X86_64)
    return false;
  return add_entry (self, start, gap_end, row, data) ||
         add_sigreturns (self, start, gap_end, row, data);
}
