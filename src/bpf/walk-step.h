// SPDX-License-Identifier: GPL-3.0-or-later

/* One step of a walk, from a frame to its caller. The program in the kernel and the walkers in
 * user space are compiled from this source.
 *
 * A file that includes this one defines WalkInput and the functions in walk/state.h.
 * WALK_IS_ARM64 (state) is a constant in the kernel, so that the code for the other machine is
 * removed. Outside it is a member of the state, because stacks of both machines are walked.
 *
 *   WalkState state = { .ip = …, .sp = …, .fp = …, .is_exact = true,
 *                       .first_mapping = …, .n_mappings = … };
 *   (arm64: .is_arm64 = true, .lr = …, .code_mask = …)
 *   do { push (state.ip); } while (sysprof_walk_step (&state, &input));
 *   … state.reason, state.used
 *
 * For the verifier, loops have constant bounds, every index is checked, and there is no signed
 * division. */

#pragma once

#include "bpf/walk/arm64.h"
#include "bpf/walk/go.h"

/* Steps without a rule. If there could have been one, that is the reason why the walk ends. */
WALK_INLINE bool
walk_step_without_rule (WalkState *state, WalkInput *input, uint32_t rule)
{
  bool has_failed =
      (state->mapping.n_pages == 0 && state->mapping.first_page == MAPPING_FAILED) ||
      rule == RULE_DOUBT;

  if (rule == RULE_DOUBT)
    state->used |= WALK_USED_DOUBT;
  if (walk_step_by_fp (state, input))
    return true;
  if (has_failed && state->reason == WALK_BAD_FP)
    state->reason = WALK_TABLE_FAILED;
  return false;
}

/* Steps from state->ip to its caller. FALSE: the walk has ended, and state->reason has the
 * reason. */
WALK_INLINE bool
sysprof_walk_step (WalkState *state, WalkInput *input)
{
  uint64_t address = state->is_exact ? state->ip : state->ip - 1;
  uint64_t cfa = 0, ip = 0, fp = 0, bx = 0;
  uint32_t rule;
  bool has_bx;

  if (!walk_find_mapping (state, input, address))
    return walk_stop (state, WALK_NO_MAPPING);
  if (state->mapping.n_pages == 0 && state->mapping.first_page == MAPPING_PENDING)
    return walk_stop (state, WALK_NO_TABLE);

  rule = walk_rule_of (state, input, address);
  if (RULE_KIND (rule) == RULE_NONE)
    return walk_step_without_rule (state, input, rule);
  if (RULE_KIND (rule) == RULE_END)
    return walk_stop (state, WALK_END);
  if (RULE_KIND (rule) == RULE_SIGNAL)
    return walk_step_by_signal (state, input);
  if (WALK_IS_ARM64 (state))
    return walk_step_by_rule_arm64 (state, input, rule);
  if (RULE_KIND (rule) == RULE_RA)
    return walk_step_by_register (state, input, rule);
  if (RULE_KIND (rule) == RULE_GO && RULE_GO_MODE (rule) == GO_FOREIGN)
    return walk_step_by_foreign (state, input, rule);
  if (RULE_KIND (rule) == RULE_GO)
    return walk_step_by_go (state, input, rule);

  if (!walk_find_cfa (state, input, rule, &cfa))
    return false;
  if (!walk_read (input, cfa - 8, &ip))
    return walk_stop (state, WALK_FAULT);
  walk_find_fp (state, input, rule, cfa, &fp);
  has_bx = (RULE_KIND (rule) == RULE_SP_BX || RULE_KIND (rule) == RULE_BP_BX) &&
           walk_find_bx (state, input, rule, cfa, &bx);
  if (!walk_go_on (state, ip, cfa, fp))
    return false;
  state->bx = bx;
  state->has_bx = has_bx;
  return true;
}
