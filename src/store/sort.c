// SPDX-License-Identifier: GPL-3.0-or-later

/* Sorting that can be canceled. The C library cannot be interrupted, so it sorts pieces and
 * we merge them. */

#include "store/progress.h"

#include <stdlib.h>
#include <string.h>

#define PIECE 0x4000 /* items between two checks for cancellation: some milliseconds */

typedef struct
{
  const Progress *progress;
  size_t size; /* of an item */
  GCompareDataFunc compare;
  void *data;
} Sorting;

/* Stable. Both runs of `from`, which ascend, go to `to`. FALSE if cancelled. */
static bool
merge (const Sorting *self,
       const uint8_t *from,
       uint8_t *to,
       size_t begin,
       size_t middle,
       size_t end)
{
  size_t size = self->size, left = begin, right = middle;

  for (size_t at = begin; at < end; at++)
    {
      bool is_left = right == end ||
                     (left < middle &&
                      self->compare (from + left * size, from + right * size, self->data) <= 0);

      if (at % PIECE == 0 && sysprof_progress_is_cancelled (self->progress))
        return false;
      memcpy (to + at * size, from + (is_left ? left++ : right++) * size, size);
    }
  return true;
}

static bool
merge_all (const Sorting *self, uint8_t *items, size_t n)
{
  g_autofree uint8_t *room = g_malloc_n (n, self->size);
  uint8_t *from = items, *to = room;

  for (size_t length = PIECE; length < n; length *= 2)
    {
      uint8_t *merged = to;

      for (size_t begin = 0; begin < n; begin += 2 * length)
        if (!merge (self, from, to, begin, MIN (begin + length, n),
                    MIN (begin + 2 * length, n)))
          return false;
      to = from;
      from = merged;
    }

  if (from != items)
    memcpy (items, from, n * self->size);
  return true;
}

bool
sysprof_progress_sort (const Progress *self,
                       void *items,
                       size_t n,
                       size_t size,
                       GCompareDataFunc compare,
                       void *data)
{
  Sorting sorting = { self, size, compare, data };

  for (size_t at = 0; at < n; at += PIECE)
    {
      if (sysprof_progress_is_cancelled (self))
        return false;
      qsort_r ((uint8_t *) items + at * size, MIN (PIECE, n - at), size, compare, data);
    }
  return (n <= PIECE || merge_all (&sorting, items, n)) &&
         !sysprof_progress_is_cancelled (self);
}

bool
sysprof_sort_if_wanted (void *items,
                        size_t n,
                        size_t size,
                        GCompareDataFunc compare,
                        const void *data)
{
  const Progress progress = { .cancellable = g_cancellable_get_current () };

  return sysprof_progress_sort (&progress, items, n, size, compare, (void *) data);
}
