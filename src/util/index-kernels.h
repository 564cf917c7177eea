// SPDX-License-Identifier: GPL-3.0-or-later

/* The loops in which index-set.c spends its time, for the CPU that runs them. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

enum
{
  INDEX_CHUNK_SIZE = 65536, /* indices that share their upper 16 bits */
  INDEX_CHUNK_WORDS = INDEX_CHUNK_SIZE / 64,
  INDEX_SLACK = 16, /* items that a kernel may write behind the last that counts */
};

typedef struct
{
  /* Whether each of `index` [n] is more than the one before; and how many do not follow theirs at once. */
  bool (*is_ascending) (const uint32_t *index, uint32_t n, uint32_t *n_gaps);
  /* The bits that are in both, each [INDEX_CHUNK_WORDS], and how many those are. */
  uint32_t (*and_bits) (const uint64_t *a, const uint64_t *b, uint64_t *both);
  /* The numbers that are in both, each ascending; `both` has room for the shorter and for the slack. */
  uint32_t (*intersect) (const uint16_t *a,
                         uint32_t n_a,
                         const uint16_t *b,
                         uint32_t n_b,
                         uint16_t *both);
  /* The places of the bits [INDEX_CHUNK_WORDS], and how many those are. `to` has room for them and for the slack. */
  uint32_t (*list_bits) (const uint64_t *bits, uint32_t base, uint32_t *to);
  /* base + low, of each. */
  void (*widen) (const uint16_t *low, uint32_t n, uint32_t base, uint32_t *to);
  /* first, first + 1, … */
  void (*count_up) (uint32_t first, uint32_t n, uint32_t *to);
} IndexKernels;

/* For any CPU. */
extern const IndexKernels sysprof_index_kernels_portable;

/* The fastest that this CPU has. Any thread. */
const IndexKernels *sysprof_index_kernels (void);
