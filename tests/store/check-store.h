// SPDX-License-Identifier: GPL-3.0-or-later

/* Invariants of every store, whatever bytes it was made from. */

#pragma once

#include "store/store.h"

static inline void
check_string (const Store *store, StringId id)
{
  g_assert_cmpuint (id, <, store->strings.n_strings);
}

static inline void
check_frames (const Store *store)
{
  uint64_t n = 0;

  for (FrameNo i = 0; i < store->frames.n; i++)
    {
      g_assert_cmpuint (store->frames.offset[i], <=, store->size - 24);
      g_assert_cmpuint (store->frames.type[i], <, STORE_N_FRAME_TYPES);
      g_assert_true (i == 0 || store->frames.time[i - 1] <= store->frames.time[i]);
    }

  for (unsigned type = 0; type < STORE_N_FRAME_TYPES; type++)
    {
      const FrameList *list = &store->frames_of_type[type];

      n += list->n;
      g_assert_cmpuint (list->n, ==, store->n_frames_by_type[type]);
      for (uint32_t i = 0; i < list->n; i++)
        {
          g_assert_cmpuint (list->frame[i], <, store->frames.n);
          g_assert_cmpuint (store->frames.type[list->frame[i]], ==, type);
          g_assert_true (i == 0 || list->frame[i - 1] < list->frame[i]);
        }
    }

  g_assert_cmpuint (n, ==, store->frames.n);
  g_assert_cmpint (store->begin, <=, store->end);
}

static inline void
check_stacks (const Store *store)
{
  const StackTree *stacks = &store->stacks;
  const AddressTable *addresses = &store->addresses;
  const StackEvents *const tables[] = { &store->samples, &store->allocations, &store->traces,
                                        &store->waits.events };

  for (StackId id = 0; id < stacks->n; id++)
    if (id < store->processes.n)
      {
        g_assert_cmpuint (stacks->depth[id], ==, 0);
        g_assert_cmpuint (stacks->parent[id], ==, 0);
      }
    else
      {
        g_assert_cmpuint (stacks->parent[id], <, id);
        g_assert_cmpuint (stacks->parent[id], !=, 0);
        g_assert_cmpuint (stacks->depth[id], ==, stacks->depth[stacks->parent[id]] + 1);
        g_assert_cmpuint (stacks->address[id], <, addresses->n);
        g_assert_cmpuint (stacks->address[id], >, 0);
      }

  for (AddressId id = 1; id < addresses->n; id++)
    {
      g_assert_cmpuint (addresses->process[id], <, store->processes.n);
      g_assert_cmpuint (addresses->mapping[id], <, store->n_mappings);
      g_assert_cmpuint (addresses->kind[id], >, ADDRESS_NONE);
      g_assert_cmpuint (addresses->kind[id], <=, ADDRESS_DATA);
      g_assert_cmpuint (addresses->is_return[id], <=, 1);
    }

  for (unsigned table = 0; table < G_N_ELEMENTS (tables); table++)
    for (uint32_t i = 0; i < tables[table]->n; i++)
      {
        ProcessId process = tables[table]->process[i];

        g_assert_cmpuint (tables[table]->stack[i], <, stacks->n);
        g_assert_cmpuint (process, >, 0);
        g_assert_cmpuint (process, <, store->processes.n);
        g_assert_cmpint (store->processes.row[process].pid, ==, tables[table]->pid[i]);
      }
}

static inline void
check_processes (const Store *store)
{
  for (ProcessId id = 1; id < store->processes.n; id++)
    {
      const Process *process = &store->processes.row[id];

      check_string (store, process->comm);
      check_string (store, process->command_line);
      g_assert_cmpuint (process->comm, !=, 0);
      g_assert_cmpint (process->start, <=, process->end);
      g_assert_cmpuint (process->n_threads, <=, store->processes.n_thread_ids);
      g_assert_cmpuint (process->first_thread, <=,
                        store->processes.n_thread_ids - process->n_threads);
      g_assert_cmpuint (sysprof_store_find_process (store, process->pid), ==, id);
    }

  for (MappingId id = 1; id < store->n_mappings; id++)
    {
      g_assert_cmpuint (store->mappings[id].process, <, store->processes.n);
      check_string (store, store->mappings[id].path);
      check_string (store, store->mappings[id].build_id);
    }
}

static inline void
check_waits (const Store *store)
{
  const Waits *waits = &store->waits;
  int64_t end;

  for (uint32_t i = 0; i < waits->n_threads; i++)
    {
      check_string (store, waits->threads[i].comm);
      g_assert_cmpint (store->processes.row[waits->threads[i].process].pid, ==,
                       waits->threads[i].pid);
      g_assert_cmpint (waits->threads[i].run, >=, 0);
    }
  for (uint32_t i = 0; i < waits->events.n; i++)
    {
      const Wait *row = &waits->row[i];

      g_assert_true (i == 0 || waits->events.time[i - 1] <= waits->events.time[i]);
      g_assert_cmpint (waits->events.weight[i], >=, 0);
      g_assert_false (
          __builtin_add_overflow (waits->events.time[i], waits->events.weight[i], &end));
      g_assert_cmpint (end, <=, store->end);
      g_assert_cmpint (row->runnable, >=, 0);
      g_assert_cmpint (row->runnable, <=, waits->events.weight[i]);
      g_assert_cmpuint (row->thread, <, waits->n_threads);
      g_assert_cmpuint (row->waker, <=, waits->n_threads);
      g_assert_cmpuint (row->waker_stack, <, store->stacks.n);
      g_assert_cmpuint (row->stands_for, >=, 1);
      g_assert_cmpuint (row->reason, >=, OFF_CPU_PAGE_FAULT);
      g_assert_cmpuint (row->reason, <, N_OFF_CPU_REASONS);
      g_assert_cmpint (waits->threads[row->thread].tid, ==, waits->events.tid[i]);
      if (row->waker_stack != 0)
        g_assert_cmpuint (sysprof_store_process_of_stack (store, row->waker_stack), ==,
                          waits->threads[row->waker - 1].process);
    }
  for (uint32_t i = 0; i < waits->n_locks; i++)
    {
      g_assert_cmpuint (waits->locks[i].wait, <, waits->events.n);
      g_assert_true (i == 0 || waits->locks[i - 1].wait < waits->locks[i].wait);
    }
}

static inline void
check_rest (const Store *store)
{
  uint32_t n_values = 0;

  for (uint32_t i = 0; i < store->n_marks; i++)
    {
      check_string (store, store->marks[i].group);
      check_string (store, store->marks[i].name);
      check_string (store, store->marks[i].message);
    }
  for (uint32_t i = 0; i < store->n_logs; i++)
    {
      check_string (store, store->logs[i].domain);
      check_string (store, store->logs[i].message);
    }
  for (uint32_t i = 0; i < store->n_dbus; i++)
    {
      DBusHeader header;

      g_assert_cmpuint (store->dbus[i].offset + store->dbus[i].size, <=, store->size);
      if (sysprof_store_read_dbus_header (store, i, &header))
        g_assert_cmpuint (header.body + header.body_size, <=, store->size);
    }
  for (uint32_t i = 0; i < store->heap.n; i++)
    g_assert_true (store->heap.allocation[i] == NO_ALLOCATION ||
                   store->heap.allocation[i] < store->allocations.n);
  for (uint32_t i = 0; i < store->counters.n; i++)
    {
      g_assert_cmpuint (store->counters.row[i].first_value, ==, n_values);
      n_values += store->counters.row[i].n_values;
    }
  g_assert_cmpuint (n_values, ==, store->counters.n_values);
  for (uint32_t i = 0; i < store->n_metadata; i++)
    {
      check_string (store, store->metadata[i].id);
      check_string (store, store->metadata[i].value);
    }
  for (uint32_t i = 0; i < store->n_jit_names; i++)
    {
      check_string (store, store->jit_names[i].name);
      g_assert_true (i == 0 || store->jit_names[i - 1].address < store->jit_names[i].address);
    }
  for (uint32_t i = 0; i < store->files.n; i++)
    {
      g_autoptr (GBytes) raw = sysprof_store_read_file_raw (store, i, NULL);
      G_GNUC_UNUSED g_autoptr (GBytes) unpacked = sysprof_store_read_file (
          store, sysprof_store_string (store, store->files.row[i].name), NULL);

      g_assert_cmpuint (g_bytes_get_size (raw), ==, store->files.row[i].size);
    }
}

static inline void
check_store (const Store *store)
{
  check_frames (store);
  check_processes (store);
  check_stacks (store);
  check_waits (store);
  check_rest (store);
}
