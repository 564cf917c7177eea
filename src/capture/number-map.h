// SPDX-License-Identifier: BSD-2-Clause

/* From numbers to numbers: a hash table with open addressing. A zeroed one is empty. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint64_t key;
  uint64_t value; /* 0 = free */
} NumberPair;

typedef struct
{
  NumberPair *pairs; /* [n_slots] */
  size_t n_slots;    /* 0 or a power of two */
  size_t n;
} NumberMap;

/* 0 if the key is not there. */
uint64_t sysprof_number_map_get (const NumberMap *self, uint64_t key);
/* `value` is not 0 and replaces the one before. False with errno set when memory is short. */
bool sysprof_number_map_set (NumberMap *self, uint64_t key, uint64_t value);
void sysprof_number_map_clear (NumberMap *self);
