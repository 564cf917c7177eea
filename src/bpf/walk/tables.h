// SPDX-License-Identifier: GPL-3.0-or-later

/* Looks up the unwind rule for an address, and the mapping that contains it. */

#pragma once

#include "bpf/walk/state.h"

/* This file uses masks instead of comparisons: every branch doubles the verifier's work, and a
 * wrong offset may read anything within a slab. */
WALK_INLINE uint32_t
walk_slab_u16 (const uint8_t *slab, uint32_t offset)
{
  offset &= (UNWIND_SLAB_SIZE - 1) & ~1u;
  WALK_KEEP (offset);
  return *(const uint16_t *) (const void *) (slab + (offset & (UNWIND_SLAB_SIZE - 1) & ~1u));
}

WALK_INLINE uint32_t
walk_slab_u32 (const uint8_t *slab, uint32_t offset)
{
  offset &= (UNWIND_SLAB_SIZE - 1) & ~3u;
  WALK_KEEP (offset);
  return *(const uint32_t *) (const void *) (slab + (offset & (UNWIND_SLAB_SIZE - 1) & ~3u));
}

/* All bits set if a ≤ b, else 0; both are below 2^31. */
WALK_INLINE uint32_t
walk_is_at_most (uint32_t a, uint32_t b)
{
  return (uint32_t) ((int32_t) (a - b - 1) >> 31);
}

/* The rule for byte `address` of the page whose block begins at `block`. */
WALK_INLINE uint32_t
walk_find_rule (const uint8_t *slab, uint32_t block, uint32_t address)
{
  uint32_t at = block + 2 * (address >> 8 & 255);
  uint32_t low = walk_slab_u16 (slab, at);
  uint32_t n = walk_slab_u16 (slab, at + 2) - low;
  uint32_t n_rules = walk_slab_u16 (slab, block + UNWIND_N_RULES_OFFSET);
  uint32_t rows = block + UNWIND_RULES_OFFSET + 4 * n_rules;
  uint32_t rule;

  /* A binary search for the last row at or before the address: `n` rows are left, after row
   * `low` - 1. 256 bytes have at most 256 rows. */
  n &= 511;
  for (uint32_t i = 0; i < 9 && n > 0; i++)
    {
      uint32_t half = (n + 1) >> 1;
      uint32_t row = walk_slab_u16 (slab, rows + 2 * (low + half - 1)) >> 8;

      low = (low + (half & walk_is_at_most (row, address & 255))) & 0xffff;
      n = (n - half) & 511;
    }

  rule = walk_slab_u16 (slab, rows + 2 * (low - 1)) & 255;
  return walk_slab_u32 (slab, block + UNWIND_RULES_OFFSET + 4 * rule);
}

/* --- mappings --- */

/* Searches the list of the process. */
WALK_OUTLINE bool
walk_find_listed (WalkState *state, WalkInput *input, uint64_t address)
{
  const UnwindMapping *mapping;
  uint32_t low;
  uint32_t n;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  low = state->first_mapping;
  n = state->n_mappings;
  n &= 2 * UNWIND_MOST_MAPPINGS - 1;
  for (uint32_t i = 0; i < 17 && n > 0; i++)
    {
      uint32_t half = (n + 1) >> 1;
      uint64_t start = walk_mapping (input, low + half - 1)->start;

      /* All bits set if start ≤ address. */
      low += half & (uint32_t) ((int64_t) (start - address - 1) >> 63);
      low &= UNWIND_MOST_MAPPINGS - 1;
      n = (n - half) & (2 * UNWIND_MOST_MAPPINGS - 1);
    }

  if (low == (state->first_mapping & (UNWIND_MOST_MAPPINGS - 1)))
    return false;
  mapping = walk_mapping (input, low - 1);
  if (address < mapping->start || address >= mapping->end)
    return false;
  state->mapping = *mapping;
  return true;
}

/* Stores the mapping that contains `address` in the state. */
WALK_INLINE bool
walk_find_mapping (WalkState *state, WalkInput *input, uint64_t address)
{
  if (address - state->mapping.start < state->mapping.end - state->mapping.start)
    return true;
  if (address >> 63 != 0)
    return false;
  return walk_look_up (state, input, address);
}

/* Reads the tables. RULE_NONE if the page has no rules. `page` is an index of the directory. */
WALK_OUTLINE uint32_t
walk_find_rule_at (WalkInput *input, uint32_t page, uint32_t address)
{
  const uint8_t *slab;
  uint32_t entry;

  WALK_CHECK (input, RULE_NONE);
  entry = walk_page (input, page);
  if (entry == 0)
    return RULE_NONE;
  slab = walk_slab (input, UNWIND_PAGE_SLAB (entry));
  if (slab == 0)
    return RULE_NONE;

  return walk_find_rule (slab, UNWIND_PAGE_OFFSET (entry), address);
}

/* `address` is in the state's mapping. */
WALK_INLINE uint32_t
walk_rule_of (WalkState *state, WalkInput *input, uint64_t address)
{
  uint64_t at = address - state->mapping.origin;
  uint64_t page = at >> UNWIND_PAGE_SHIFT;

  if (page >= state->mapping.n_pages)
    return RULE_NONE;
  return walk_rule_at (input, state->mapping.first_page + (uint32_t) page,
                       (uint32_t) at & (UNWIND_PAGE_SIZE - 1));
}
