// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the user stack, the unwind tables and the registers: the functions that walk/state.h
 * declares. */

#pragma once

#include "bpf/walk/maps.h"

__noinline bool
walk_read_anew (WalkInput *input, uint64_t address, uint64_t *word)
{
  uint64_t start;

  if (input == 0 || word == 0)
    return false;

  start = address - WINDOW_BELOW;
  if ((address & 7) == 0 &&
      bpf_probe_read_user (input->window, sizeof input->window, (const void *) start) == 0)
    {
      input->window_start = start;
      input->window_size = sizeof input->window;
      *word = input->window[WINDOW_BELOW / 8];
      return true;
    }

  /* Near the end of a stack, or the next page is not mapped. */
  input->window_size = 0;
  return bpf_probe_read_user (word, sizeof *word, (const void *) address) == 0;
}

static __always_inline bool
walk_read (WalkInput *input, uint64_t address, uint64_t *word)
{
  uint64_t offset = address - input->window_start;

  if ((address & 7) == 0 && offset < input->window_size)
    {
      *word = input->window[offset >> 3 & (WINDOW_WORDS - 1)];
      WALK_HAS_READ (input, address, *word);
      return true;
    }
  if (!walk_read_anew (input, address, word))
    {
      WALK_HAS_ASKED (input);
      return false;
    }
  WALK_HAS_READ (input, address, *word);
  return true;
}

static __always_inline const uint8_t *
walk_slab (WalkInput *input, uint32_t index)
{
  void *slab = bpf_map_lookup_elem (&walk_slabs, &index);
  uint32_t zero = 0;

  return slab != 0 ? bpf_map_lookup_elem (slab, &zero) : 0;
}

static __always_inline uint32_t
walk_page (WalkInput *input, uint32_t index)
{
  index &= UNWIND_MOST_PAGES - 1;
  WALK_KEEP (index);
  return walk_index.page[index & (UNWIND_MOST_PAGES - 1)];
}

static __always_inline const UnwindMapping *
walk_mapping (WalkInput *input, uint32_t index)
{
  index &= UNWIND_MOST_MAPPINGS - 1;
  WALK_KEEP (index);
  return &walk_index.mapping[index & (UNWIND_MOST_MAPPINGS - 1)];
}

/* A hash: the upper bits of the product, which depend on all other bits. */
static __always_inline uint32_t
mix (uint64_t value, uint32_t n_bits)
{
  uint32_t index = (uint32_t) ((value * UINT64_C (0x9e3779b97f4a7c15)) >> (64 - n_bits));

  WALK_KEEP (index);
  return index & ((1u << n_bits) - 1);
}

static __always_inline uint32_t
walk_rule_at (WalkInput *input, uint32_t page, uint32_t address)
{
  uint64_t key = (uint64_t) page << UNWIND_PAGE_SHIFT | address;
  KnownRule *known = &input->known_rule[mix (key, KNOWN_RULE_BITS)];
  uint32_t version = input->version, rule;

  if (known->key == key && known->version == version)
    return known->rule;
  rule = walk_find_rule_at (input, page, address);
  known->key = key;
  known->version = version;
  known->rule = rule;
  return rule;
}

static __always_inline bool
walk_register (WalkInput *input, uint32_t number, uint64_t *value)
{
  uint32_t index = index_of_register (number);

  WALK_HAS_ASKED (input);
  WALK_KEEP (index);
  if (index >= N_REGISTERS)
    return false;
  *value = input->registers[index];
  return true;
}

static __always_inline bool
walk_thread_base (WalkInput *input, uint64_t *base)
{
  WALK_HAS_ASKED (input);
  *base = input->thread_base;
  return true;
}

static __always_inline bool
walk_code (WalkInput *input, uint64_t address, uint64_t *bytes)
{
  WALK_HAS_ASKED (input);
  return bpf_probe_read_user (bytes, sizeof *bytes, (const void *) address) == 0;
}
