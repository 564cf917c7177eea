// SPDX-License-Identifier: GPL-3.0-or-later

/* Go's own table from code to stack size, which every Go program carries, stripped or not. */

#pragma once

#include "unwind/cfi.h"

/* *Owned* by one thread. Zero is the table of a program that is not Go's. */
typedef struct
{
  ElfImage *image;
  uint8_t *section;     /* it is in; of the reader's memory */
  const uint8_t *bytes; /* [size] */
  size_t size;
  uint64_t text; /* link-time address from which functions are counted */
  uint64_t n_functions;
  uint64_t functions; /* where the list of them is; functions' own places are relative to it */
  uint64_t stack_sizes;
  uint64_t names;
  uint32_t sizes_place; /* in what describes a function */
  uint32_t flags_place;
  uint32_t quantum;      /* bytes of the smallest instruction */
  uint32_t switch_rule;  /* RULE_GO, less what each function has of its own; 0 = not found */
  uint64_t *code_budget; /* borrowed: bytes of code that may be read yet; NULL = all */
  bool is_wide;          /* the list has addresses of 8 bytes instead of distances of 4 */
} GoTable;

/* ELF_ABSENT: not a Go program. ELF_UNSUPPORTED: one whose table is not found, or not understood. */
ElfStatus sysprof_go_table_open (GoTable *self, ElfImage *image);
void sysprof_go_table_clear (GoTable *self);

/* The rows of the functions that lie in [start, end). Returns how many bytes they cover. */
uint64_t sysprof_go_table_run (const GoTable *self,
                               uint64_t start,
                               uint64_t end,
                               CfiRow row,
                               void *data);
