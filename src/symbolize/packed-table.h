// SPDX-License-Identifier: GPL-3.0-or-later

/* The format of `__symbols__`: entries of 32 bytes, one entry of zeros, strings. */

#pragma once

#include <stdint.h>

#define PACKED_ENTRY_SIZE 32

typedef struct
{
  uint64_t begin;
  uint64_t end; /* exclusive; in tables by Sysprof 3.46 the last sampled address */
  uint32_t pid;
  uint32_t name; /* offsets from the start of the file */
  uint32_t tag;
  uint32_t padding;
} PackedEntry;

_Static_assert(sizeof (PackedEntry) == PACKED_ENTRY_SIZE, "as in the file");

/* The order of the table: by pid (unsigned), then by start. */
static inline int
packed_entry_compare (const PackedEntry *left, const PackedEntry *right)
{
  if (left->pid != right->pid)
    return left->pid < right->pid ? -1 : 1;
  if (left->begin != right->begin)
    return left->begin < right->begin ? -1 : 1;
  return left->end < right->end ? -1 : left->end > right->end;
}

/* On all supported 64-bit machines, kernel addresses have the top bit set. */
static inline int
packed_entry_is_kernel (const PackedEntry *entry)
{
  return entry->begin >> 63 != 0;
}
