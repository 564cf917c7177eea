// SPDX-License-Identifier: GPL-3.0-or-later

/* Applies the unwind rules of arm64. */

#pragma once

#include "bpf/walk/rule.h"

/* Steps out of a large frame. */
WALK_INLINE bool
walk_step_by_far_rule_arm64 (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint32_t slot = RULE_FAR_SLOT (rule);
  uint64_t distance = UINT64_C (8) * (slot & 63);
  uint64_t sp = state->sp, fp = state->fp, ip = state->lr, cfa, at;

  if (slot == FAR_IN_LR)
    {
      if (!state->has_registers)
        return walk_stop (state, WALK_ESCAPE);
      return walk_go_on (state, walk_strip (state, ip), sp + RULE_FAR_OFFSET (rule), fp);
    }
  if (state->has_lost_sp)
    {
      if ((slot & FAR_LINK) != 0)
        return walk_stop (state, WALK_BAD_FP);
      sp = (slot & FAR_FROM_CFA) != 0 ? fp + distance - RULE_FAR_OFFSET (rule) : fp - distance;
    }

  cfa = sp + RULE_FAR_OFFSET (rule);
  if (cfa <= state->sp)
    return walk_stop (state, WALK_SP_NOT_RISING);
  at = (slot & FAR_FROM_CFA) != 0 ? cfa - distance : sp + distance;
  if ((slot & FAR_LINK) == 0)
    {
      if (!walk_read (input, at, &fp))
        return walk_stop (state, WALK_FAULT);
      at += 8;
    }
  if (!walk_read (input, at, &ip))
    return walk_stop (state, WALK_FAULT);
  return walk_go_on (state, walk_strip (state, ip), cfa, fp);
}

/* Steps by a rule for the CFA and the saved pair of X29 and X30. */
WALK_INLINE bool
walk_step_by_rule_arm64 (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint32_t kind = RULE_KIND (rule), slot = RULE_SLOT (rule);
  uint64_t cfa = 0, fp = state->fp, ip = state->lr, pair;

  if (kind == RULE_SP_FAR)
    return walk_step_by_far_rule_arm64 (state, input, rule);
  if (kind == RULE_LR)
    {
      /* Only the first frame can have its return address in X30. */
      if (!state->has_registers)
        return walk_stop (state, WALK_ESCAPE);
      cfa = state->sp + RULE_OFFSET (rule);
      if (slot != SLOT_UNCHANGED && !walk_read (input, cfa - UINT64_C (8) * slot, &fp))
        return walk_stop (state, WALK_FAULT);
      return walk_go_on (state, walk_strip (state, ip), cfa, fp);
    }
  if (kind == RULE_SP_LINK)
    {
      if (state->has_lost_sp)
        return walk_stop (state, WALK_BAD_FP);
      cfa = state->sp + RULE_OFFSET (rule);
      if (cfa <= state->sp)
        return walk_stop (state, WALK_SP_NOT_RISING);
      if (!walk_read (input, cfa - UINT64_C (8) * slot, &ip))
        return walk_stop (state, WALK_FAULT);
      return walk_go_on (state, walk_strip (state, ip), cfa, fp);
    }

  /* SP is unknown. The frame pointer points to the saved pair. */
  if (state->has_lost_sp && kind == RULE_SP)
    {
      cfa = fp + UINT64_C (8) * slot;
      if (cfa <= state->sp)
        return walk_stop (state, WALK_SP_NOT_RISING);
    }
  else if (!walk_find_cfa (state, input, rule, &cfa))
    {
      return false;
    }
  pair = cfa - UINT64_C (8) * slot;
  if (!walk_read (input, pair, &fp) || !walk_read (input, pair + 8, &ip))
    return walk_stop (state, WALK_FAULT);
  return walk_go_on (state, walk_strip (state, ip), cfa, fp);
}
