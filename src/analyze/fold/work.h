// SPDX-License-Identifier: GPL-3.0-or-later

/* How long work is cancelled and tells how far it is. */

#pragma once

#include "analyze/fold/refold.h"

/* Items between two looks: well below a millisecond of any pass. */
#define FOLD_STEP 0x4000

/* Notes that `n` more items are done. FALSE if the work was cancelled. `self` may be NULL. */
static inline bool
sysprof_fold_work_step (FoldWork *self, uint64_t n)
{
  if (self == NULL)
    return true;

  __atomic_store_n (&self->n_done, __atomic_load_n (&self->n_done, __ATOMIC_RELAXED) + n,
                    __ATOMIC_RELAXED);
  return !g_cancellable_is_cancelled (self->cancellable);
}

/* For loops over `i`: looks once every FOLD_STEP items. */
static inline bool
sysprof_fold_work_at (FoldWork *self, uint64_t i)
{
  return i % FOLD_STEP != FOLD_STEP - 1 || sysprof_fold_work_step (self, FOLD_STEP);
}

/* The same for steps within what is noted as a whole. */
static inline bool
sysprof_fold_work_is_wanted_at (const FoldWork *self, uint64_t i)
{
  return i % FOLD_STEP != FOLD_STEP - 1 || self == NULL ||
         !g_cancellable_is_cancelled (self->cancellable);
}

/* FALSE if the work was cancelled: then the items are good for nothing but to be freed. */
static inline bool
sysprof_fold_work_sort (const FoldWork *self,
                        void *items,
                        size_t n,
                        size_t size,
                        GCompareDataFunc compare,
                        const void *data)
{
  const Progress progress = { .cancellable = self != NULL ? self->cancellable : NULL };

  return sysprof_progress_sort (&progress, items, n, size, compare, (void *) data);
}
