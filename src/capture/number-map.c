// SPDX-License-Identifier: BSD-2-Clause

/* A hash table from numbers to numbers. See number-map.h. */

#include "capture/number-map.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

static NumberPair *
find_pair (const NumberMap *self, uint64_t key)
{
  /* Fibonacci hashing: neighbouring keys, as ids are, spread well. */
  uint64_t hash = key * UINT64_C (0x9E3779B97F4A7C15);

  for (size_t i = (size_t) (hash >> 20);; i++)
    {
      NumberPair *pair = &self->pairs[i & (self->n_slots - 1)];

      if (pair->value == 0 || pair->key == key)
        return pair;
    }
}

uint64_t
sysprof_number_map_get (const NumberMap *self, uint64_t key)
{
  return self->n_slots != 0 ? find_pair (self, key)->value : 0;
}

static bool
grow (NumberMap *self)
{
  NumberMap larger = { .n_slots = self->n_slots == 0 ? FIRST_SLOTS : self->n_slots * 2 };

  larger.pairs = calloc (larger.n_slots, sizeof *larger.pairs);
  if (larger.pairs == NULL)
    return false;

  for (size_t i = 0; i < self->n_slots; i++)
    if (self->pairs[i].value != 0)
      *find_pair (&larger, self->pairs[i].key) = self->pairs[i];
  larger.n = self->n;
  free (self->pairs);
  *self = larger;

  return true;
}

bool
sysprof_number_map_set (NumberMap *self, uint64_t key, uint64_t value)
{
  NumberPair *pair;

  if (self->n * 2 >= self->n_slots && !grow (self))
    return false;

  pair = find_pair (self, key);
  if (pair->value == 0)
    self->n++;
  pair->key = key;
  pair->value = value;

  return true;
}

void
sysprof_number_map_clear (NumberMap *self)
{
  free (self->pairs);
  memset (self, 0, sizeof *self);
}
