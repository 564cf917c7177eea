// SPDX-License-Identifier: GPL-3.0-or-later

/* Allocates ranges of a memory that other processes read, so that bookkeeping must be outside
 * of it. */

#include "unwind/range-pool.h"

typedef struct
{
  uint64_t start;
  uint64_t size;
} FreeRange;

static FreeRange *
get_nth (const RangePool *self, guint i)
{
  return &g_array_index (self->free, FreeRange, i);
}

void
sysprof_range_pool_init (RangePool *self, uint64_t size, uint64_t boundary)
{
  uint64_t step = boundary != 0 ? boundary : size;

  *self = (RangePool){
    .free = g_array_new (FALSE, FALSE, sizeof (FreeRange)),
    .boundary = boundary,
  };
  for (uint64_t start = 0; start < size; start += step)
    {
      FreeRange range = { start, MIN (step, size - start) };

      g_array_append_val (self->free, range);
    }
}

void
sysprof_range_pool_clear (RangePool *self)
{
  g_clear_pointer (&self->free, g_array_unref);
}

bool
sysprof_range_pool_take (RangePool *self, uint64_t size, uint64_t *start)
{
  for (guint i = 0; i < self->free->len; i++)
    {
      FreeRange *range = get_nth (self, i);

      if (range->size < size)
        continue;

      *start = range->start;
      range->start += size;
      range->size -= size;
      if (range->size == 0)
        g_array_remove_index (self->free, i);
      self->n_used += size;
      return true;
    }

  return false;
}

static bool
may_join (const RangePool *self, uint64_t at)
{
  return self->boundary == 0 || at % self->boundary != 0;
}

void
sysprof_range_pool_give_back (RangePool *self, uint64_t start, uint64_t size)
{
  FreeRange fresh = { start, size };
  guint low = 0;

  for (guint high = self->free->len; low < high;)
    {
      guint middle = low + (high - low) / 2;

      if (get_nth (self, middle)->start < start)
        low = middle + 1;
      else
        high = middle;
    }

  self->n_used -= size;
  if (low < self->free->len && get_nth (self, low)->start == start + size &&
      may_join (self, start + size))
    {
      fresh.size += get_nth (self, low)->size;
      g_array_remove_index (self->free, low);
    }
  if (low > 0 && may_join (self, start))
    {
      FreeRange *before = get_nth (self, low - 1);

      if (before->start + before->size == start)
        {
          before->size += fresh.size;
          return;
        }
    }
  g_array_insert_val (self->free, low, fresh);
}
