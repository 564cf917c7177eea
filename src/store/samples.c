// SPDX-License-Identifier: GPL-3.0-or-later

/* What samples and allocations have in common, and a digest of each stack.
 *
 * walk.c, on all CPUs, is the only step that reads all bytes of all stacks. From then on a
 * stack is its digest: 128 bits under a random key, which no file can be made to collide with
 * on purpose, and by chance two of a billion stacks do once in 10^20 captures. */

#include "store/builder.h"

const StackLayout sysprof_sample_layout = { 28, 24, 32, true };
const StackLayout sysprof_allocation_layout = { 40, 44, 48, false };
const StackLayout sysprof_trace_layout = { 28, 24, 32, false };

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

uint32_t
sysprof_stack_events_find_time (const StackEvents *self, int64_t time)
{
  uint32_t low = 0;
  uint32_t high = self->n;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (self->time[middle] < time)
        low = middle + 1;
      else
        high = middle;
    }

  return low;
}

StackDigest *
sysprof_stack_events_new (StackEvents *events, uint32_t n, bool has_weight)
{
  events->time = sysprof_large_new (n, sizeof *events->time);
  events->pid = sysprof_large_new (n, sizeof *events->pid);
  events->tid = sysprof_large_new (n, sizeof *events->tid);
  events->cpu = sysprof_large_new (n, sizeof *events->cpu);
  events->stack = sysprof_large_new (n, sizeof *events->stack);
  events->process = sysprof_large_new (n, sizeof *events->process);
  if (has_weight)
    events->weight = sysprof_large_new (n, sizeof *events->weight);
  return sysprof_large_new (n, sizeof (StackDigest));
}
