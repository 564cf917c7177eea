// SPDX-License-Identifier: GPL-3.0-or-later

/* A queue between two threads. GLib's own would do, but the thread sanitizer does not see its lock, and so nothing of what is
 * handed over under it. *Guarded*. */

#pragma once

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>

typedef struct
{
  pthread_mutex_t lock;
  pthread_cond_t added;
  GQueue soon;
  GQueue items;
  unsigned n_soon; /* taken from `soon` since one was from the others */
} HandOver;

void sysprof_hand_over_init (HandOver *self);
/* `free_item`: of what is left; NULL = nothing is. */
void sysprof_hand_over_clear (HandOver *self, GDestroyNotify free_item);

/* `soon`: before those that are not, of which every fourth place is nevertheless. Among themselves each kind is taken as it came. */
void sysprof_hand_over_push (HandOver *self, void *item, bool soon);
/* Waits for one. */
void *sysprof_hand_over_wait (HandOver *self);
/* NULL = there is none. */
void *sysprof_hand_over_try (HandOver *self);
