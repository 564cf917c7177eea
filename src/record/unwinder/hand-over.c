// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/unwinder/hand-over.h"

void
sysprof_hand_over_init (HandOver *self)
{
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->added, NULL);
  g_queue_init (&self->items);
}

void
sysprof_hand_over_clear (HandOver *self, GDestroyNotify free_item)
{
  if (free_item != NULL)
    g_queue_clear_full (&self->items, free_item);
  pthread_cond_destroy (&self->added);
  pthread_mutex_destroy (&self->lock);
}

void
sysprof_hand_over_push (HandOver *self, void *item, bool soon)
{
  pthread_mutex_lock (&self->lock);
  if (soon)
    g_queue_push_head (&self->items, item);
  else
    g_queue_push_tail (&self->items, item);
  pthread_cond_signal (&self->added);
  pthread_mutex_unlock (&self->lock);
}

void *
sysprof_hand_over_wait (HandOver *self)
{
  void *item;

  pthread_mutex_lock (&self->lock);
  while ((item = g_queue_pop_head (&self->items)) == NULL)
    pthread_cond_wait (&self->added, &self->lock);
  pthread_mutex_unlock (&self->lock);
  return item;
}

void *
sysprof_hand_over_try (HandOver *self)
{
  void *item;

  pthread_mutex_lock (&self->lock);
  item = g_queue_pop_head (&self->items);
  pthread_mutex_unlock (&self->lock);
  return item;
}
