// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the tables through which the code of a switch jumps. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code that is being read. */
typedef struct
{
  const uint8_t *code; /* [size] */
  uint64_t size;
  uint64_t start;           /* address of the first byte */
  const uint16_t *is_begun; /* [size] nonzero: an instruction is known to begin there */
} JumpCode;

typedef struct
{
  uint64_t address;
  uint32_t n;       /* entries, at most JUMP_TABLE_MOST */
  bool is_relative; /* entries of 4 bytes, relative to the table; else addresses of 8 bytes */
} JumpTable;

#define JUMP_TABLE_MOST 1024

/* Finds the table of the jump at `offset` in the instructions before it. */
bool sysprof_jump_table_find (const JumpCode *self, uint64_t offset, JumpTable *table);
