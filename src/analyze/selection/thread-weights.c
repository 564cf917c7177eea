// SPDX-License-Identifier: GPL-3.0-or-later

/* Weights by stack and thread. See thread-weights.h. */

#include "analyze/selection/thread-weights.h"

#define FIRST_SLOTS 1024 /* a power of two */

typedef struct
{
  StackId stack;
  int32_t tid;
  uint64_t weight; /* 0 = free */
} Slot;

/* Open addressing, at most half full. */
struct ThreadWeights
{
  Slot *slots; /* [n_slots] */
  uint32_t n_slots;
  uint32_t n_used;
};

ThreadWeights *
sysprof_thread_weights_new (void)
{
  ThreadWeights *self = g_new0 (ThreadWeights, 1);

  self->n_slots = FIRST_SLOTS;
  self->slots = g_new0 (Slot, self->n_slots);
  return self;
}

static Slot *
find_slot (ThreadWeights *self, StackId stack, int32_t tid)
{
  uint64_t hash =
      (((uint64_t) stack << 32) | (uint32_t) tid) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  uint32_t at = (uint32_t) (hash >> 32) & (self->n_slots - 1);

  while (self->slots[at].weight != 0 &&
         (self->slots[at].stack != stack || self->slots[at].tid != tid))
    at = (at + 1) & (self->n_slots - 1);

  return &self->slots[at];
}

static void
grow (ThreadWeights *self)
{
  g_autofree Slot *old = self->slots;
  uint32_t n_old = self->n_slots;

  self->n_slots = n_old * 2;
  self->slots = g_new0 (Slot, self->n_slots);
  for (uint32_t i = 0; i < n_old; i++)
    if (old[i].weight != 0)
      *find_slot (self, old[i].stack, old[i].tid) = old[i];
}

void
sysprof_thread_weights_add (ThreadWeights *self, StackId stack, int32_t tid, uint64_t weight)
{
  Slot *slot = find_slot (self, stack, tid);

  if (slot->weight != 0)
    {
      slot->weight += weight;
      return;
    }

  if (self->n_used >= self->n_slots / 2)
    {
      grow (self);
      slot = find_slot (self, stack, tid);
    }
  *slot = (Slot){ stack, tid, weight };
  self->n_used++;
}

static int
compare_slots (const void *a, const void *b, void *data)
{
  const Slot *left = a;
  const Slot *right = b;

  if (left->tid != right->tid)
    return left->tid < right->tid ? -1 : 1;
  return (left->stack > right->stack) - (left->stack < right->stack);
}

void
sysprof_thread_weights_finish (ThreadWeights *self, StackWeights *weights)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->n_slots; i++)
    if (self->slots[i].weight != 0)
      self->slots[n++] = self->slots[i];
  (void) sysprof_sort_if_wanted (self->slots, n, sizeof *self->slots, compare_slots, NULL);

  weights->by_thread.n = n;
  weights->by_thread.stack = g_new (StackId, MAX (n, 1));
  weights->by_thread.tid = g_new (int32_t, MAX (n, 1));
  weights->by_thread.self = g_new (uint64_t, MAX (n, 1));
  for (uint32_t i = 0; i < n; i++)
    {
      weights->by_thread.stack[i] = self->slots[i].stack;
      weights->by_thread.tid[i] = self->slots[i].tid;
      weights->by_thread.self[i] = self->slots[i].weight;
    }

  g_clear_pointer (&self->slots, g_free);
  self->n_slots = self->n_used = 0;
}
