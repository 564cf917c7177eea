// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <stddef.h>

/* What somebody may have meant who mistyped a word: of all words offered, the one that takes the fewest letters changed,
 * left out, added or swapped, if these are few for its length. Case does not count.
 *
 *   Closest closest = sysprof_closest_to (typed);
 *   for (…)
 *     sysprof_closest_offer (&closest, name, name);
 *   if (closest.best) …
 *
 * *Owned*; it borrows all strings. */
typedef struct
{
  const char *wanted;
  size_t size;      /* of `wanted` */
  const char *best; /* NULL: none is near */
  size_t distance;  /* of the best; at first the largest that still is near, plus one */
} Closest;

Closest sysprof_closest_to (const char *wanted);
/* Compares `word` and, if it is nearer than all before, answers with `name`. */
void
sysprof_closest_offer (Closest *self, const char *word, size_t word_size, const char *name);
