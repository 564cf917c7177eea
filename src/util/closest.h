// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <stddef.h>

/* Finds the word that a user may have meant with a mistyped one: of all words offered, the one
 * with the fewest letters replaced, deleted, inserted or swapped, if these are few for its
 * length. Ignores case.
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
  const char *best; /* NULL: no word is similar */
  size_t distance;  /* of the best word; initially the largest tolerated distance plus one */
} Closest;

Closest sysprof_closest_to (const char *wanted);
/* Compares `word`. If it is more similar than all earlier words, `best` becomes `name`. */
void
sysprof_closest_offer (Closest *self, const char *word, size_t word_size, const char *name);
