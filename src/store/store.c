// SPDX-License-Identifier: GPL-3.0-or-later

/* The lifetime of a store, and look-ups in its columns. A store is opened in open.c. */

#include "store/store.h"

#include "store/builder.h"

/* The columns that folding makes. */
static void
free_folded (Store *store)
{
  g_free (store->stacks.parent);
  g_free (store->stacks.address);
  g_free (store->stacks.depth);
  g_free (store->addresses.address);
  g_free (store->addresses.kind);
  g_free (store->addresses.process);
  g_free (store->addresses.mapping);
  g_free (store->addresses.is_return);
  g_free (store->addresses.code);
  g_free (store->mappings);
}

void
sysprof_open_store_free (OpenStore *self)
{
  Store *store = &self->store;
  StackEvents *const events[] = { &store->samples, &store->allocations, &store->traces,
                                  &store->waits.events };

  g_free (store->frames.offset);
  g_free (store->frames.time);
  g_free (store->frames.type);
  g_free (store->frames.cpu);
  g_free (store->frames.pid);
  for (unsigned i = 0; i < STORE_N_FRAME_TYPES; i++)
    g_free (store->frames_of_type[i].frame);
  for (unsigned i = 0; i < G_N_ELEMENTS (events); i++)
    {
      g_free (events[i]->time);
      g_free (events[i]->pid);
      g_free (events[i]->tid);
      g_free (events[i]->cpu);
      g_free (events[i]->stack);
      g_free (events[i]->process);
      g_free (events[i]->weight);
    }
  free_folded (store);
  g_free (store->processes.row);
  g_free (store->processes.by_pid);
  g_free (store->processes.thread_ids);
  g_free (store->processes.thread_names);
  g_free (store->heap.address);
  g_free (store->heap.size);
  g_free (store->heap.tid);
  g_free (store->heap.stack);
  g_free (store->heap.allocation);
  g_free (store->heap.freed);
  g_free (store->waits.row);
  g_free (store->waits.threads);
  g_free (store->waits.locks);
  g_free (store->marks);
  g_free (store->logs);
  g_free (store->dbus);
  g_free (store->counters.row);
  g_free (store->counters.time);
  g_free (store->counters.value);
  g_free (store->metadata);
  g_free (store->sample_notes);
  g_free (store->sampled_events);
  g_free (store->sample_event);
  g_free (store->sample_period);
  g_free (store->files.row);
  g_clear_pointer (&store->files.row_of_name, g_hash_table_unref);
  g_free (store->files.chunk);
  g_free (store->jit_names);
  g_free (store->jit_code);
  sysprof_intern_clear (&store->strings);
  sysprof_file_bytes_clear (&self->bytes);
  g_free (self->path);
  g_free (self->damage);
  g_free (self->mixed);
  g_free (self);
}

Store *
sysprof_store_ref (Store *self)
{
  g_atomic_ref_count_inc (&((OpenStore *) self)->n_refs);
  return self;
}

void
sysprof_store_unref (Store *self)
{
  if (self != NULL && g_atomic_ref_count_dec (&((OpenStore *) self)->n_refs))
    sysprof_open_store_free ((OpenStore *) self);
}

void
sysprof_store_leave_file (const Store *store)
{
  sysprof_file_bytes_leave (&((const OpenStore *) store)->bytes);
}

ProcessId
sysprof_store_find_process (const Store *self, int32_t pid)
{
  const ProcessOfPid *by_pid = self->processes.by_pid;
  uint32_t low = 0, n = self->processes.n - 1;

  for (uint32_t high = n; low < high;)
    {
      uint32_t middle = low + (high - low) / 2;

      if (by_pid[middle].pid < pid)
        low = middle + 1;
      else
        high = middle;
    }

  return low < n && by_pid[low].pid == pid ? by_pid[low].process : 0;
}

ProcessId
sysprof_store_process_of_stack (const Store *self, StackId stack)
{
  while (self->stacks.depth[stack] != 0)
    stack = self->stacks.parent[stack];

  return stack;
}
