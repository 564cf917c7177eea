// SPDX-License-Identifier: GPL-3.0-or-later

/* Allocates and frees ranges of [0, size). First fit; adjacent free ranges are merged. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* *Owned* by one thread. */
typedef struct
{
  GArray *free;      /* FreeRange, ascending, never adjacent except at a boundary */
  uint64_t boundary; /* ranges do not cross multiples of this; 0 = none */
  uint64_t n_used;
} RangePool;

void sysprof_range_pool_init (RangePool *self, uint64_t size, uint64_t boundary);
void sysprof_range_pool_clear (RangePool *self);

/* FALSE: no free range is long enough. */
bool sysprof_range_pool_take (RangePool *self, uint64_t size, uint64_t *start);
void sysprof_range_pool_give_back (RangePool *self, uint64_t start, uint64_t size);
