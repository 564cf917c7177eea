// SPDX-License-Identifier: GPL-3.0-or-later

/* A queue between threads. GLib's GAsyncQueue would do, but the thread sanitizer does not see
 * its lock and would report races on the items. *Guarded*. */

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
  unsigned n_soon; /* items taken from `soon` since the last one from `items` */
} WorkQueue;

void sysprof_work_queue_init (WorkQueue *self);
/* `free_item`: frees items that are left; NULL = the queue is empty. */
void sysprof_work_queue_clear (WorkQueue *self, GDestroyNotify free_item);

/* `soon`: put the item into the queue with precedence. That queue is served first, but after
 * three of its items the other queue gets a turn. Each queue is first in, first out. */
void sysprof_work_queue_push (WorkQueue *self, void *item, bool soon);
/* Waits for an item. */
void *sysprof_work_queue_wait (WorkQueue *self);
/* NULL: the queue is empty. */
void *sysprof_work_queue_try (WorkQueue *self);
