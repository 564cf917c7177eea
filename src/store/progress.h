// SPDX-License-Identifier: GPL-3.0-or-later

/* How far long work is, and whether it is still wanted.
 *
 * The work is cut into stages, each a share of the whole:
 *
 *   sysprof_progress_stage (progress, 0.3, "Finding frames");
 *   for (size_t i = 0; i < n; i++)
 *     if (i % SOME == 0 && !sysprof_progress_at (progress, i, n))
 *       return;
 *
 * *Owned* by the thread that does the work; others that help it only ask
 * sysprof_progress_is_cancelled(). */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

/* `fraction` never falls and is 1 at most; `message` is static. Called by the thread that does
 * the work. */
typedef void (*ProgressFunc) (double fraction, const char *message, void *data);

typedef struct
{
  GCancellable *cancellable; /* or NULL */
  ProgressFunc func;         /* or NULL */
  void *data;

  /* … private */
  double begin; /* of the stage */
  double share; /* of the stage in the whole */
  double told;
  const char *message;
} Progress;

static inline bool
sysprof_progress_is_cancelled (const Progress *self)
{
  return self->cancellable != NULL && g_cancellable_is_cancelled (self->cancellable);
}

/* The stage before is done; the next one takes `share` of the whole. FALSE if cancelled. */
bool sysprof_progress_stage (Progress *self, double share, const char *message);
/* So much of this stage is done. FALSE if cancelled: leave all behind in a state that can be
 * freed. Cheap enough for some thousand items; whoever calls it tells every hundredth only. */
bool sysprof_progress_at (Progress *self, uint64_t done, uint64_t all);
/* Sorts by rising `compare`, which gets `data`. FALSE if cancelled: then the items are good for
 * nothing but to be freed as memory. Any thread may call it. */
bool sysprof_progress_sort (const Progress *self,
                            void *items,
                            size_t n,
                            size_t size,
                            GCompareDataFunc compare,
                            void *data);
/* TRUE with `error` set if so. */
bool sysprof_progress_set_error_if_cancelled (const Progress *self, GError **error);

/* --- where the cancellable is the thread's --- */

/* Computations have many small steps. Instead of passing a cancellable to each, the caller
 * pushes it for its thread: g_cancellable_push_current(). After cancellation, a step returns
 * a value that can be freed or passed to the next step, but has no meaning. The caller
 * checks once, at the end. Without a cancellable nothing of this happens. */

#define WANTED_STEP 0x1000 /* items between two looks: well below a millisecond */

static inline bool
sysprof_is_wanted (void)
{
  return !g_cancellable_is_cancelled (g_cancellable_get_current ());
}

/* For loops over `i`. */
static inline bool
sysprof_is_wanted_at (uint64_t i)
{
  return i % WANTED_STEP != 0 || sysprof_is_wanted ();
}

/* As sysprof_progress_sort(). FALSE if cancelled: items may be missing then, and others be
 * there twice. */
bool sysprof_sort_if_wanted (void *items,
                             size_t n,
                             size_t size,
                             GCompareDataFunc compare,
                             const void *data);
