// SPDX-License-Identifier: GPL-3.0-or-later

/* What was allocated and freed: addresses and sizes. The stacks are there already. */

#include "store/builder.h"

void
sysprof_builder_read_heap (Builder *self)
{
  Store *store = self->store;
  const FrameList *frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_ALLOCATION];
  HeapEvents *heap = &store->heap;
  uint32_t n_allocations = 0;
  size_t left_until = 0;

  heap->address = sysprof_large_new (frames->n, sizeof *heap->address);
  heap->size = sysprof_large_new (frames->n, sizeof *heap->size);
  heap->tid = sysprof_large_new (frames->n, sizeof *heap->tid);
  heap->allocation = sysprof_large_new (frames->n, sizeof *heap->allocation);
  for (uint32_t i = 0; i < frames->n && sysprof_builder_goes_on (self, i, frames->n); i++)
    {
      Frame frame = sysprof_builder_next_frame (self, frames->frame[i], &left_until);
      int64_t size = sysprof_frame_i64 (&frame, 32);
      bool is_allocation = size > 0 && n_allocations < store->allocations.n;

      heap->address[i] = sysprof_frame_u64 (&frame, 24);
      /* As they were folded, also where the mapped file has changed since. */
      heap->size[i] = is_allocation ? store->allocations.weight[n_allocations] : MIN (size, 0);
      heap->tid[i] = sysprof_frame_i32 (&frame, 40);
      heap->allocation[i] = is_allocation ? n_allocations++ : NO_ALLOCATION;
    }

  heap->n = frames->n;
}

void
sysprof_builder_drop_frees (Builder *self)
{
  Store *store = self->store;
  StackEvents *events = &store->allocations;
  uint32_t n = 0;

  store->heap.stack = sysprof_large_new (events->n, sizeof *store->heap.stack);
  if (events->n > 0)
    memcpy (store->heap.stack, events->stack, events->n * sizeof *events->stack);

  for (uint32_t i = 0; i < events->n; i++)
    {
      if (events->weight[i] == 0)
        continue;

      events->time[n] = events->time[i];
      events->pid[n] = events->pid[i];
      events->tid[n] = events->tid[i];
      events->cpu[n] = events->cpu[i];
      events->weight[n] = events->weight[i];
      events->process[n] = events->process[i];
      events->stack[n++] = events->stack[i];
    }

  events->n = n;
}
