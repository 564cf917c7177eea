// SPDX-License-Identifier: GPL-3.0-or-later

/* Walks the calling thread's own stack with the step of the walker in the kernel. It begins at
 * the caller of sysprof_backtrace(), whose registers are in the frame of that function, so no
 * registers have to be saved. */

#define WALK_STEP_WANTED
#include "backtrace/inside.h"

#include <stdatomic.h>

static atomic_bool has_met_unknown;

struct WalkInput
{
  const UnwindMemory *memory;
  StackReader stack;
};

static bool
walk_read (WalkInput *input, uint64_t address, uint64_t *word)
{
  return sysprof_stack_reader_read (&input->stack, address, word);
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
walk_look_up (WalkState *state, WalkInput *input, uint64_t address)
{
  return walk_find_listed (state, input, address);
}

/* The first frame is a call, for which the other registers are not preserved. */
static bool
walk_register (WalkInput *input, uint32_t number, uint64_t *value)
{
  return false;
}

static bool
walk_thread_base (WalkInput *input, uint64_t *base)
{
  *base = (uint64_t) (uintptr_t) __builtin_thread_pointer ();
  return true;
}

/* Used after a signal frame, and in code without rules. */
static uint32_t
walk_rule_at (WalkInput *input, uint32_t page, uint32_t address)
{
  return walk_find_rule_at (input, page, address);
}

static bool
walk_code (WalkInput *input, uint64_t address, uint64_t *bytes)
{
  return sysprof_stack_reader_read (&input->stack, address, bytes);
}

bool
sysprof_backtrace_is_outdated (void)
{
  return atomic_load_explicit (&has_met_unknown, memory_order_relaxed);
}

void
sysprof_backtrace_forget_unknown (void)
{
  atomic_store_explicit (&has_met_unknown, false, memory_order_relaxed);
}

/* --- cached rules --- */

/* Finding the rule takes two thirds of a step, and most stacks consist of the same return
 * addresses. So rules are cached by return address until a file is loaded or unloaded.
 * *Guarded*: any thread may read and write, even in a signal handler. A reader that sees the
 * halves of two different writers detects that they do not match, and ignores the entry. */
#define KNOWN_BITS 11

typedef struct
{
  _Atomic uint64_t ip;
  _Atomic uint64_t rule; /* in the low half; the high half verifies `ip` and the list */
} KnownRule;

static KnownRule known_rules[1u << KNOWN_BITS];

/* The low half of the result, which verifies an entry, depends on the low half of the list. */
static inline uint64_t
mix (uint64_t ip, uint64_t list)
{
  return (ip ^ list * UINT64_C (0x9e3779b97f4a7c15)) * UINT64_C (0xc2b2ae3d27d4eb4f);
}

static inline bool
get_known_rule (uint64_t ip, uint64_t list, uint32_t *rule)
{
  uint64_t mixed = mix (ip, list);
  KnownRule *known = &known_rules[mixed >> (64 - KNOWN_BITS)];
  uint64_t value = atomic_load_explicit (&known->rule, memory_order_relaxed);

  *rule = (uint32_t) value;
  return atomic_load_explicit (&known->ip, memory_order_relaxed) == ip &&
         value >> 32 == (uint32_t) mixed;
}

static void
keep_rule (WalkState *state, WalkInput *input, uint64_t list)
{
  uint64_t mixed = mix (state->ip, list);
  KnownRule *known = &known_rules[mixed >> (64 - KNOWN_BITS)];
  uint32_t rule;

  if (!walk_find_mapping (state, input, state->ip - 1))
    return;
  rule = walk_rule_of (state, input, state->ip - 1);
  atomic_store_explicit (&known->ip, state->ip, memory_order_relaxed);
  atomic_store_explicit (&known->rule, (uint64_t) (uint32_t) mixed << 32 | rule,
                         memory_order_relaxed);
}

/* Steps by a cached rule of the common kinds. FALSE: the caller makes the full step. */
static inline bool
step_by_known_rule (WalkState *state, WalkInput *input, uint64_t list)
{
  uint64_t cfa, ip, fp;
  uint32_t rule;

  if (state->is_exact)
    return false;
  if (!get_known_rule (state->ip, list, &rule))
    {
      keep_rule (state, input, list);
      return false;
    }

  if (RULE_KIND (rule) != RULE_SP && RULE_KIND (rule) != RULE_BP)
    return false;

  cfa = (RULE_KIND (rule) == RULE_SP ? state->sp : state->fp) + RULE_OFFSET (rule);
  if (cfa <= state->sp || !walk_read (input, cfa - 8, &ip))
    return false;
  walk_find_fp (state, input, rule, cfa, &fp);
  return walk_go_on (state, ip, cfa, fp);
}

/* --- the walk --- */

static size_t
walk (uint64_t ip, uint64_t sp, uint64_t fp, uint64_t *addresses, size_t most)
{
  uint64_t list = sysprof_backtrace_get_list ();
  WalkState state = {
    .ip = ip,
    .sp = sp,
    .fp = fp,
    .first_mapping = BACKTRACE_LIST_FIRST (list),
    .n_mappings = PROCESS_LIST_COUNT (list),
  };
  WalkInput input;
  size_t n = 0;

  if (list == 0)
    return 0;

  input.memory = sysprof_backtrace_get_memory ();
  sysprof_stack_reader_init (&input.stack, sp);
  while (n < most)
    {
      addresses[n++] = state.ip;
      if (!step_by_known_rule (&state, &input, list) && !sysprof_walk_step (&state, &input))
        break;
    }

  if (state.reason == WALK_NO_MAPPING)
    atomic_store_explicit (&has_met_unknown, true, memory_order_relaxed);
  return n;
}

/* The frame of this function: the caller's frame pointer and the return address; the caller's
 * frame begins above them. */
__attribute__ ((noinline)) size_t
sysprof_backtrace (uint64_t *addresses, size_t most)
{
  const uint64_t *frame = __builtin_frame_address (0);

  return walk (frame[1], (uint64_t) (uintptr_t) (frame + 2), frame[0], addresses, most);
}
