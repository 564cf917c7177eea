// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads Go's own table of stack sizes, which every Go program has, stripped or not. */

#pragma once

#include "unwind/cfi.h"

/* Owned* by one thread. A zeroed table is that of a program not written in Go. */
typedef struct
{
  ElfImage *image;
  uint8_t *section;     /* contains the table; owned */
  const uint8_t *bytes; /* [size] */
  size_t size;
  uint64_t text; /* link-time address to which the offsets of functions are relative */
  uint64_t n_functions;
  /* offset of the list of functions; the offsets in it are relative to it */
  uint64_t functions;
  uint64_t stack_sizes;
  uint64_t names;
  uint32_t sizes_offset; /* offset of the stack sizes in a function's entry */
  uint32_t flags_offset;
  uint32_t quantum;      /* bytes of the smallest instruction */
  uint32_t switch_rule;  /* RULE_GO without what differs for each function; 0 = not found */
  uint64_t *code_budget; /* borrowed: bytes of code that may still be read; NULL = unlimited */
  bool is_wide;          /* the list has addresses of 8 bytes instead of offsets of 4 */
} GoTable;

/* ELF_ABSENT: not a Go program. ELF_UNSUPPORTED: the table is not found, or its version is
 * unknown. */
ElfStatus sysprof_go_table_open (GoTable *self, ElfImage *image);
void sysprof_go_table_clear (GoTable *self);

/* Calls back with the rows of the functions in [start, end). Returns the number of bytes that
 * they cover. */
uint64_t sysprof_go_table_run (const GoTable *self,
                               uint64_t start,
                               uint64_t end,
                               CfiRow row,
                               void *data);
