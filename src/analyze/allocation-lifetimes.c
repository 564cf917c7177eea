// SPDX-License-Identifier: GPL-3.0-or-later

/* Which allocations were freed, and how soon. */

#include "analyze/analyze.h"

#define FRAME_ALLOCATION 14 /* docs/format.md */

typedef struct
{
  GHashTable *blocks_of_pid; /* pid → (address → 1 + row) */
  GHashTable *blocks;        /* of the pid at hand */
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

/* [heap.n] *(full)* Incomplete after cancellation. */
static uint32_t *
find_freed (const Store *store)
{
  const FrameNo *frames = store->frames_of_type[FRAME_ALLOCATION].frame;
  const HeapEvents *heap = &store->heap;
  uint32_t *freed = sysprof_large_new0 (MAX (heap->n, 1), sizeof *freed);
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

const uint32_t *
sysprof_heap_get_freed (const Store *store)
{
  /* Two threads may compute it. Both results are equal, and the first one is kept. */
  uint32_t **place = (uint32_t **) &store->heap.freed;
  uint32_t *freed = g_atomic_pointer_get (place);

  if (freed != NULL)
    return freed;
  freed = find_freed (store);
  if (sysprof_is_wanted () && g_atomic_pointer_compare_and_exchange (place, NULL, freed))
    return freed;
  g_free (freed);
  return g_atomic_pointer_get (place);
}

/* Marks an allocation that its thread frees with its next event. */
static void
visit (const HeapEvents *heap,
       const uint32_t *freed,
       GHashTable *last_of_tid,
       uint32_t event,
       uint8_t *is_temporary)
{
  gpointer tid = GINT_TO_POINTER (heap->tid[event]);

  if (heap->allocation[event] != NO_ALLOCATION)
    {
      g_hash_table_insert (last_of_tid, tid, GUINT_TO_POINTER (heap->allocation[event] + 1));
      return;
    }
  if (freed[event] != 0 &&
      freed[event] == GPOINTER_TO_UINT (g_hash_table_lookup (last_of_tid, tid)))
    is_temporary[freed[event] - 1] = 1;
  g_hash_table_remove (last_of_tid, tid);
}

uint8_t *
sysprof_heap_ask (const Store *store, HeapQuery question, int64_t time)
{
  const FrameNo *frames = store->frames_of_type[FRAME_ALLOCATION].frame;
  const HeapEvents *heap = &store->heap;
  const uint32_t *freed = sysprof_heap_get_freed (store);
  uint8_t *answers = sysprof_large_new0 (MAX (store->allocations.n, 1), 1);
  /* tid → 1 + row of its allocation, if that was its last event */
  g_autoptr (GHashTable) last_of_tid = g_hash_table_new (NULL, NULL);

  for (uint32_t i = 0; freed != NULL && i < heap->n && store->frames.time[frames[i]] < time &&
                       sysprof_is_wanted_at (i);
       i++)
    {
      if (question == HEAP_TEMPORARY)
        {
          visit (heap, freed, last_of_tid, i, answers);
          continue;
        }
      if (freed[i] != 0)
        answers[freed[i] - 1] = 0;
      if (heap->allocation[i] != NO_ALLOCATION)
        answers[heap->allocation[i]] = 1;
    }

  return answers;
}
