// SPDX-License-Identifier: GPL-3.0-or-later

/* A blocking queue with two levels of precedence. It must never let the lower level starve. */

#include "unwinder/work-queue.h"

#define MOST_SOON 3 /* items with precedence before a normal one gets a turn */

void
sysprof_work_queue_init (WorkQueue *self)
{
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->added, NULL);
  g_queue_init (&self->soon);
  g_queue_init (&self->items);
  self->n_soon = 0;
}

void
sysprof_work_queue_clear (WorkQueue *self, GDestroyNotify free_item)
{
  if (free_item != NULL)
    {
      g_queue_clear_full (&self->soon, free_item);
      g_queue_clear_full (&self->items, free_item);
    }
  pthread_cond_destroy (&self->added);
  pthread_mutex_destroy (&self->lock);
}

void
sysprof_work_queue_push (WorkQueue *self, void *item, bool soon)
{
  pthread_mutex_lock (&self->lock);
  g_queue_push_tail (soon ? &self->soon : &self->items, item);
  pthread_cond_signal (&self->added);
  pthread_mutex_unlock (&self->lock);
}

/* The caller holds the lock. */
static void *
take (WorkQueue *self)
{
  bool is_soon = self->soon.length > 0 && (self->items.length == 0 || self->n_soon < MOST_SOON);

  self->n_soon = is_soon ? self->n_soon + 1 : 0;
  return g_queue_pop_head (is_soon ? &self->soon : &self->items);
}

void *
sysprof_work_queue_wait (WorkQueue *self)
{
  void *item;

  pthread_mutex_lock (&self->lock);
  while ((item = take (self)) == NULL)
    pthread_cond_wait (&self->added, &self->lock);
  pthread_mutex_unlock (&self->lock);
  return item;
}

void *
sysprof_work_queue_try (WorkQueue *self)
{
  void *item;

  pthread_mutex_lock (&self->lock);
  item = take (self);
  pthread_mutex_unlock (&self->lock);
  return item;
}
