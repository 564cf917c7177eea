// SPDX-License-Identifier: GPL-3.0-or-later

/* Which allocations were freed, and how soon. */

#include "analyze/analyze.h"

#define FRAME_ALLOCATION 14 /* docs/format.md */

typedef struct
{
  GHashTable *blocks_of_pid; /* pid → (address → 1 + row) */
  GHashTable *last_of_tid; /* tid → 1 + row of its allocation, if that was the last it did */
  GHashTable *blocks;      /* of the pid at hand */
  int32_t pid;
} Heap;

static void
turn_to_process (Heap *self, int32_t pid)
{
  if (self->blocks != NULL && pid == self->pid)
    return;

  self->pid = pid;
  self->blocks = g_hash_table_lookup (self->blocks_of_pid, GINT_TO_POINTER (pid));
  if (self->blocks != NULL)
    return;
  self->blocks = g_hash_table_new (NULL, NULL);
  g_hash_table_insert (self->blocks_of_pid, GINT_TO_POINTER (pid), self->blocks);
}

/* Forgets the block; 1 + the row that allocated it, 0 if none is known. */
static uint32_t
take_block (Heap *self, uint64_t address)
{
  gpointer key = (gpointer) (uintptr_t) address;
  gpointer row = NULL;

  g_hash_table_steal_extended (self->blocks, key, NULL, &row);
  return GPOINTER_TO_UINT (row);
}

static void
visit (Heap *self, const Store *store, HeapQuery question, uint32_t event, uint8_t *answers)
{
  const HeapEvents *heap = &store->heap;
  gpointer tid = GINT_TO_POINTER (heap->tid[event]);
  uint32_t allocation = heap->allocation[event];
  uint32_t freed = take_block (self, heap->address[event]);
  uint32_t last = GPOINTER_TO_UINT (g_hash_table_lookup (self->last_of_tid, tid));

  if (freed != 0 && question == HEAP_LIVE)
    answers[freed - 1] = 0;
  if (allocation == NO_ALLOCATION)
    {
      if (freed != 0 && freed == last && question == HEAP_TEMPORARY)
        answers[freed - 1] = 1;
      g_hash_table_remove (self->last_of_tid, tid);
      return;
    }

  if (question == HEAP_LIVE)
    answers[allocation] = 1;
  g_hash_table_insert (self->blocks, (gpointer) (uintptr_t) heap->address[event],
                       GUINT_TO_POINTER (allocation + 1));
  g_hash_table_insert (self->last_of_tid, tid, GUINT_TO_POINTER (allocation + 1));
}

uint8_t *
sysprof_heap_ask (const Store *store, HeapQuery question, int64_t time)
{
  const FrameNo *frames = store->frames_of_type[FRAME_ALLOCATION].frame;
  uint8_t *answers = sysprof_large_new0 (MAX (store->allocations.n, 1), 1);
  g_autoptr (GHashTable) blocks_of_pid =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);
  g_autoptr (GHashTable) last_of_tid = g_hash_table_new (NULL, NULL);
  Heap self = { .blocks_of_pid = blocks_of_pid, .last_of_tid = last_of_tid };

  for (uint32_t i = 0;
       i < store->heap.n && store->frames.time[frames[i]] < time && sysprof_is_wanted_at (i);
       i++)
    {
      turn_to_process (&self, store->frames.pid[frames[i]]);
      visit (&self, store, question, i, answers);
    }

  return answers;
}

uint32_t *
sysprof_heap_find_freed (const Store *store)
{
  const FrameNo *frames = store->frames_of_type[FRAME_ALLOCATION].frame;
  const HeapEvents *heap = &store->heap;
  uint32_t *freed = g_new0 (uint32_t, MAX (heap->n, 1));
  g_autoptr (GHashTable) blocks_of_pid =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);
  Heap self = { .blocks_of_pid = blocks_of_pid };

  for (uint32_t i = 0; i < heap->n && sysprof_is_wanted_at (i); i++)
    {
      turn_to_process (&self, store->frames.pid[frames[i]]);
      freed[i] = take_block (&self, heap->address[i]);
      if (heap->allocation[i] != NO_ALLOCATION)
        g_hash_table_insert (self.blocks, (gpointer) (uintptr_t) heap->address[i],
                             GUINT_TO_POINTER (heap->allocation[i] + 1));
    }
  return freed;
}
