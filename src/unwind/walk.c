// SPDX-License-Identifier: GPL-3.0-or-later

/* Unwinds a copy of a stack, with the step of the walker in the kernel. */

#define WALK_STEP_WANTED
#include "unwind/unwind.h"

#include <string.h>

struct WalkInput
{
  const UnwindMemory *memory;
  const UnwindStack *stack;
  const uint64_t *registers;
  const uint8_t *code; /* [8] at start_ip - 1; may be NULL */
  uint64_t start_ip;
};

static bool
walk_read (WalkInput *input, uint64_t address, uint64_t *word)
{
  const UnwindStack *stack = input->stack;

  if (address < stack->start || stack->size < sizeof *word ||
      address - stack->start > stack->size - sizeof *word)
    return false;

  memcpy (word, stack->bytes + (address - stack->start), sizeof *word);
  return true;
}

static const uint8_t *
walk_slab (WalkInput *input, uint32_t index)
{
  return index < UNWIND_MOST_SLABS ? input->memory->slab[index] : NULL;
}

static uint32_t
walk_page (WalkInput *input, uint32_t index)
{
  return input->memory->index->page[index & (UNWIND_MOST_PAGES - 1)];
}

static const UnwindMapping *
walk_mapping (WalkInput *input, uint32_t index)
{
  return &input->memory->index->mapping[index & (UNWIND_MOST_MAPPINGS - 1)];
}

static bool
walk_register (WalkInput *input, uint32_t number, uint64_t *value)
{
  if (input->registers == NULL)
    return false;

  *value = input->registers[number & 15];
  return true;
}

/* A copy does not include this register. */
static bool
walk_thread_base (WalkInput *input, uint64_t *base)
{
  (void) input;
  (void) base;
  return false;
}

static bool
walk_look_up (WalkState *state, WalkInput *input, uint64_t address)
{
  return walk_find_listed (state, input, address);
}

static uint32_t
walk_rule_at (WalkInput *input, uint32_t page, uint32_t address)
{
  return walk_find_rule_at (input, page, address);
}

static bool
walk_code (WalkInput *input, uint64_t address, uint64_t *bytes)
{
  if (input->code == NULL || address != input->start_ip - 1)
    return false;

  *bytes = 0;
  for (unsigned i = 0; i < sizeof *bytes; i++)
    *bytes |= (uint64_t) input->code[i] << (8 * i);
  return true;
}

static bool
find_mappings (const UnwindMemory *memory, uint32_t pid, WalkState *state)
{
  uint32_t slot = sysprof_unwind_slot (pid);

  for (uint32_t i = 0; i < UNWIND_MOST_PROBES; i++)
    {
      const UnwindProcess *process =
          &memory->index->process[(slot + i) & (UNWIND_PROCESS_SLOTS - 1)];

      if (process->pid == 0)
        return false;
      if (process->pid != pid)
        continue;
      state->first_mapping = PROCESS_LIST_FIRST (process->list);
      state->n_mappings = PROCESS_LIST_COUNT (process->list);
      return true;
    }
  return false;
}

UnwindWalk
sysprof_unwind_walk (const UnwindMemory *memory,
                     uint32_t pid,
                     const UnwindStart *start,
                     const UnwindStack *stack,
                     uint64_t *addresses,
                     size_t most)
{
  WalkInput input = { .memory = memory,
                      .stack = stack,
                      .registers = start->registers,
                      .code = start->code,
                      .start_ip = start->ip };
  WalkState state = {
    .ip = start->ip,
    .sp = start->sp,
    .fp = start->fp,
    .lr = start->lr,
    .code_mask = start->code_mask,
    .is_exact = start->is_exact,
    .is_arm64 = start->is_arm64,
    .has_lost_sp = start->has_lost_sp,
    .has_registers = start->registers != NULL,
  };
  UnwindWalk walk = { 0 };

  if (!find_mappings (memory, pid, &state))
    state.reason = WALK_NO_PROCESS;

  do
    {
      if (walk.n == most)
        {
          state.reason = WALK_DEPTH;
          break;
        }
      addresses[walk.n++] = state.ip;
    }
  while (state.reason == WALK_RUNNING && sysprof_walk_step (&state, &input));

  walk.reason = (WalkReason) state.reason;
  walk.used = state.used;
  return walk;
}

uint32_t
sysprof_unwind_find_rule (const UnwindMemory *memory, uint32_t pid, uint64_t address)
{
  WalkInput input = { .memory = memory };
  WalkState state = { 0 };

  if (!find_mappings (memory, pid, &state) || !walk_find_mapping (&state, &input, address))
    return RULE_NONE;
  return walk_rule_of (&state, &input, address);
}
