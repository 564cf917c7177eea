// SPDX-License-Identifier: GPL-3.0-or-later

/* Takes the stacks of the current thread, from the cache if possible. */

#pragma once

#include "bpf/waits/stack-cache.h"

/* The stacks of the current thread; 0 = none. Of a waker in an interrupt, that one's alone. A part of each program, as helpers want its
 * context, and so that what is left out is the same number of frames. */
static __always_inline uint64_t
take_stack (void *context,
            uint32_t cpu,
            WaitsRing *ring,
            const WaitsControl *control,
            WalkInput *input,
            uint32_t site,
            bool is_waker,
            bool is_idle,
            Passed *passed)
{
  uint32_t zero = 0, n;
  KernelStack *kernel = bpf_map_lookup_elem (&waits_kernel, &zero);
  Memos *memos = bpf_map_lookup_elem (&waits_memos, &cpu);
  bool is_kept = false;
  uint64_t hash;
  long size;

  if (kernel == 0 || memos == 0)
    return 0;
  if (!is_idle)
    {
      /* Through memory, from where it comes as a number. */
      *(void *volatile *) &memos->position = context;
      is_kept = waits_stand (memos, input, site) != 0;
    }
  if (is_kept)
    {
      hash = waits_recall (memos, passed);
      if (hash != 0)
        return hash;
    }

  size = bpf_get_stack (context, kernel->address, WAITS_MOST_KERNEL * 8, SKIPPED_FRAMES);
  /* Where others watch the same tracepoint, there is one frame more. */
  if (size > 0 && is_in_range (&control->tracing, kernel->address[0]))
    size = bpf_get_stack (context, kernel->address, WAITS_MOST_KERNEL * 8, SKIPPED_FRAMES + 1);
  n = size > 0 ? (uint32_t) size / 8 : 0;
  waits_look_at (control, kernel, n, passed);
  if (is_idle && passed->n_interrupt == 0)
    passed->n_interrupt = n;
  if (is_waker && passed->n_interrupt > 0)
    {
      n = passed->n_interrupt;
      input->record.n = 0;
      input->record.used = 0;
      input->record.reason = WALK_KERNEL_THREAD;
      input->hash = 0;
    }
  else
    waits_walk (input);
  hash = waits_hash (input, kernel, n);
  if (!tell_stack (ring, input, kernel, n, hash))
    return 0;
  if (is_kept && passed->n_interrupt == 0)
    {
      memos->now.has_fault = passed->has_fault;
      waits_learn (memos, input, kernel, n, hash);
    }
  return hash;
}
