// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies the user stack that could not be unwound yet, so that the recorder can unwind it
 * later. */

#pragma once

#include "bpf/walk/areas.h"

#define REST_CHUNK 1024u

/* Copies the stack from address `from`, at most `most` bytes and as far as it is readable, to
 * after the record's first `n` addresses and the WalkRest. Returns the size. */
__noinline uint32_t
walk_copy_stack (WalkInput *scratch, uint32_t n, uint64_t from, uint32_t most)
{
  uint32_t size = 0;
  uint32_t left;
  uint8_t *bytes;

  if (scratch == 0 || n > WALK_REST_MOST_ADDRESSES)
    return 0;
  bytes = (uint8_t *) &scratch->record.address[n] + sizeof (WalkRest);
  for (uint32_t i = 0; i < WALK_REST_SIZE / REST_CHUNK; i++)
    {
      if ((i + 1) * REST_CHUNK > most ||
          bpf_probe_read_user (bytes + i * REST_CHUNK, REST_CHUNK,
                               (const void *) (from + i * REST_CHUNK)) != 0)
        break;
      size = (i + 1) * REST_CHUNK;
    }

  /* Up to `most`, or to the end of the last readable page. */
  left = (LEAST_PAGE_SIZE - ((uint32_t) from + size)) & (REST_CHUNK - 1);
  if (most - size < REST_CHUNK)
    left = (most - size) & (REST_CHUNK - 1);
  WALK_KEEP (size);
  if (size <= WALK_REST_SIZE - REST_CHUNK && left > 0 &&
      bpf_probe_read_user (bytes + size, left, (const void *) (from + size)) == 0)
    size += left;
  return size;
}

/* Number of bytes from `sp` that can matter to a walk. */
static __always_inline uint32_t
size_of_rest (const WalkInput *scratch, uint64_t sp)
{
  uint64_t left = scratch->stack_end - sp;

  return sp < scratch->stack_end && left < WALK_REST_SIZE ? (uint32_t) left : WALK_REST_SIZE;
}

/* Whether this CPU may copy another stack before its ring is drained, so that copies never
 * displace samples. The caller returns the part of WALK_REST_SIZE that it does not use. */
static __always_inline bool
has_budget (WalkInput *scratch)
{
  uint32_t n_drains = walk_index.n_drains;

  if (scratch->n_drains != n_drains)
    {
      scratch->n_drains = n_drains;
      scratch->budget = walk_index.copy_budget;
    }
  if (scratch->budget < WALK_REST_SIZE)
    return false;
  scratch->budget -= WALK_REST_SIZE;
  return true;
}

/* Stores the state, so that the recorder can continue the walk from the last address of the
 * record. Returns the size of what follows the addresses. */
static __always_inline uint32_t
add_rest (WalkInput *scratch, const WalkState *state)
{
  uint32_t n = scratch->record.n;
  uint32_t size;
  WalkRest *rest;

  if (n > WALK_REST_MOST_ADDRESSES || !has_budget (scratch))
    return 0;

  WALK_KEEP (n);
  if (n > WALK_REST_MOST_ADDRESSES)
    return 0;
  rest = (WalkRest *) (void *) &scratch->record.address[n];
  rest->ip = state->ip;
  rest->sp = state->sp;
  rest->fp = state->fp;
  rest->lr = state->lr;
  rest->flags = 0;
  if (state->is_exact)
    rest->flags |= WALK_REST_IS_EXACT;
  if (WALK_IS_ARM64 (state) && state->has_lost_sp)
    rest->flags |= WALK_REST_HAS_LOST_SP;
  if (state->has_registers && state->context == 0)
    {
      rest->flags |= WALK_REST_HAS_REGISTERS;
      copy_registers (rest->registers, scratch->registers);
    }
  size = walk_copy_stack (scratch, n, state->sp, size_of_rest (scratch, state->sp)) &
         (2 * WALK_REST_SIZE - 1);
  rest->size = size;
  scratch->budget += WALK_REST_SIZE - size;
  scratch->record.used |= WALK_HAS_REST;
  return sizeof *rest + size;
}
