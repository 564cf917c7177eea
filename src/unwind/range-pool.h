// SPDX-License-Identifier: GPL-3.0-or-later

/* Hands out ranges of [0, size) and takes them back. First fit; neighbours that are free become one. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* *Owned* by one thread. */
typedef struct
{
  GArray
      *free; /* FreeRange, ascending, none touches the next unless a boundary is between them */
  uint64_t boundary; /* ranges do not cross its multiples; 0 = none */
  uint64_t n_used;
} RangePool;

void sysprof_range_pool_init (RangePool *self, uint64_t size, uint64_t boundary);
void sysprof_range_pool_clear (RangePool *self);

/* FALSE: no free range is as long. */
bool sysprof_range_pool_take (RangePool *self, uint64_t size, uint64_t *start);
void sysprof_range_pool_give_back (RangePool *self, uint64_t start, uint64_t size);
