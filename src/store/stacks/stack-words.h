// SPDX-License-Identifier: GPL-3.0-or-later

/* The words of a stack in the format of the file: addresses, innermost first, and context
 * markers that apply to the addresses after them. */

#pragma once

#include <stdint.h>
#include <string.h>

#define STACK_FIRST_MARKER ((uint64_t) -4095)

typedef struct
{
  const uint8_t *bytes; /* [8 * n] */
  uint32_t n;
  bool is_swapped;
} StackWords;

static inline uint64_t
sysprof_stack_word (const StackWords *self, uint32_t i)
{
  uint64_t word;

  memcpy (&word, self->bytes + (size_t) i * 8, sizeof word);
  return self->is_swapped ? __builtin_bswap64 (word) : word;
}
