// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes events into the ring of a CPU. Each ring has one writer at a time, because interrupts
 * are off or the ring belongs to the iterators. */

#pragma once

#include "bpf/waits/state.h"

/* Reserves `size` bytes, aligned to 8 and at most WAITS_MOST_RECORD; 0 if the ring is full. */
static __always_inline void *
reserve (WaitsRing *ring, uint32_t size)
{
  uint64_t head = ring->head;
  uint64_t offset;

  if (head - *(volatile uint64_t *) &ring->tail + size > waits_ring_mask + 1)
    {
      ring->n_lost++;
      return 0;
    }
  offset = head & waits_ring_mask;
  WALK_KEEP (offset);
  return ring->data + (offset & waits_ring_mask);
}

/* Makes the reserved bytes readable. */
static __always_inline void
commit (WaitsRing *ring, uint32_t size)
{
#ifdef __TARGET_ARCH_arm64
  WALK_KEEP (size);
  size += (uint32_t) __sync_fetch_and_add (&ring->head, size) & 0; /* a memory barrier */
  WALK_KEEP (size);
#else
  __asm__ volatile("" ::: "memory");
  *(volatile uint64_t *) &ring->head += size;
#endif
}
