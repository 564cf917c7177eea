// SPDX-License-Identifier: GPL-3.0-or-later

/* Takes the stacks of the current thread, from the cache if possible. */

#pragma once

#include "bpf/waits/stack-cache.h"

/* Takes the kernel and user stack of the current thread, and returns their hash; 0 = none. If
 * an interrupt wakes the thread, takes the stack of the interrupt only. Inlined into each
 * program, because the helpers need the program's context, and so that the number of frames to
 * skip is the same. */
static __always_inline uint64_t
take_stack (void *context,
            uint32_t cpu,
            WaitsRing *ring,
            const WaitsControl *control,
            WalkInput *input,
            uint32_t site,
            bool is_waker,
            bool is_idle,
            KernelScan *scan)
{
  uint32_t zero = 0, n;
  KernelStack *kernel = bpf_map_lookup_elem (&waits_kernel, &zero);
  StackCache *cache = bpf_map_lookup_elem (&waits_cache, &cpu);
  bool is_kept = false;
  uint64_t hash;
  long size;

  if (kernel == 0 || cache == 0)
    return 0;
  if (!is_idle)
    {
      /* The verifier knows `context` as a pointer. Read back from memory, it is a number. */
      *(void *volatile *) &cache->position = context;
      is_kept = waits_locate (cache, input, site) != 0;
    }
  if (is_kept)
    {
      hash = waits_find_cached (cache, scan);
      if (hash != 0)
        return hash;
    }

  size = bpf_get_stack (context, kernel->address, WAITS_MOST_KERNEL * 8, SKIPPED_FRAMES);
  /* If several programs watch the same tracepoint, there is one frame more. */
  if (size > 0 && is_in_range (&control->tracing, kernel->address[0]))
    size = bpf_get_stack (context, kernel->address, WAITS_MOST_KERNEL * 8, SKIPPED_FRAMES + 1);
  n = size > 0 ? (uint32_t) size / 8 : 0;
  waits_scan (control, kernel, n, scan);
  if (is_idle && scan->n_interrupt == 0)
    scan->n_interrupt = n;
  if (is_waker && scan->n_interrupt > 0)
    {
      n = scan->n_interrupt;
      input->record.n = 0;
      input->record.used = 0;
      input->record.reason = WALK_KERNEL_THREAD;
      input->hash = 0;
    }
  else
    waits_walk (input);
  hash = waits_hash (input, kernel, n);
  if (!write_stack (ring, input, kernel, n, hash))
    return 0;
  if (is_kept && scan->n_interrupt == 0)
    {
      cache->now.has_fault = scan->has_fault;
      waits_add_to_cache (cache, input, kernel, n, hash);
    }
  return hash;
}
