// SPDX-License-Identifier: GPL-3.0-or-later

/* The columns of samples and allocations that stand in their frames, and a digest of each stack.
 *
 * The only step that reads all bytes of all stacks, so it is shared among the CPUs. From then on a stack
 * is its digest: 128 bits under a random key, which no file can be made to collide with on purpose, and by
 * chance two of a billion stacks do once in 10^20 captures. */

#include "store/builder.h"

#define GRAIN 0x4000 /* frames: below it a thread costs more than it saves */

typedef struct
{
  Builder *builder;
  const FrameList *frames;
  StackEvents *events;
  StackDigest *digests;
  size_t tid_at;
  size_t count_at;
  size_t addresses_at;
} Columns;

StackDigest
sysprof_stack_digest (uint64_t key, const uint8_t *addresses, uint32_t n)
{
  uint64_t low = key, high = ~key ^ n;
  uint64_t address;

  if (n == 0)
    return (StackDigest){ 0 };

  for (uint32_t i = 0; i < n; i++)
    {
      memcpy (&address, addresses + (size_t) i * 8, sizeof address);
      low = sysprof_mix (low + 0x9e3779b97f4a7c15, address);
      high = (high ^ address ^ key) * 0xff51afd7ed558ccd;
      high ^= high >> 32;
    }

  return (StackDigest){ low | 1, high };
}

static void
read_range (size_t begin, size_t end, unsigned worker, void *data)
{
  const Columns *self = data;
  const FrameTable *frames = &self->builder->store->frames;
  StackEvents *events = self->events;
  size_t left_until = begin < end ? frames->offset[self->frames->frame[begin]] : 0;

  for (size_t i = begin; i < end; i++)
    {
      FrameNo number = self->frames->frame[i];
      Frame frame = sysprof_store_frame (self->builder->store, number);

      sysprof_file_bytes_leave_behind (self->builder->file, frames->offset[number],
                                       &left_until);
      events->time[i] = frames->time[number];
      events->pid[i] = frames->pid[number];
      events->cpu[i] = frames->cpu[number];
      events->tid[i] = sysprof_frame_i32 (&frame, self->tid_at);
      self->digests[i] = sysprof_stack_digest (
          self->builder->key, frame.bytes + self->addresses_at,
          sysprof_frame_count (&frame, self->count_at, self->addresses_at, 8));
    }
}

static void
read_columns (Columns *columns, bool has_weight)
{
  StackEvents *events = columns->events;
  uint32_t n = columns->frames->n;

  events->n = n;
  events->time = g_new (int64_t, n);
  events->pid = g_new (int32_t, n);
  events->tid = g_new (int32_t, n);
  events->cpu = g_new (int16_t, n);
  events->stack = g_new0 (StackId, n);
  events->process = g_new0 (ProcessId, n);
  if (has_weight)
    events->weight = g_new0 (int64_t, n);
  columns->digests = g_new (StackDigest, n);
  sysprof_parallel_ranges (n, GRAIN, read_range, columns);
}

void
sysprof_builder_read_samples (Builder *self)
{
  Store *store = self->store;
  Columns samples = { .builder = self,
                      .frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_SAMPLE],
                      .events = &store->samples,
                      .tid_at = 28,
                      .count_at = 24,
                      .addresses_at = 32 };
  Columns allocations = { .builder = self,
                          .frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_ALLOCATION],
                          .events = &store->allocations,
                          .tid_at = 40,
                          .count_at = 44,
                          .addresses_at = 48 };

  read_columns (&samples, false);
  read_columns (&allocations, true);
  self->sample_digests = samples.digests;
  self->allocation_digests = allocations.digests;
}
