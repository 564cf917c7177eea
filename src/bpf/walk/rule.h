// SPDX-License-Identifier: GPL-3.0-or-later

/* Applies the unwind rules of x86-64: finds the canonical frame address and the caller's
 * registers. */

#pragma once

#include "bpf/walk/signal.h"

/* Computes the CFA for kinds of rules that are used by one frame in a hundred. FALSE: the walk
 * has ended. */
WALK_OUTLINE bool
walk_find_rare_cfa (WalkState *state, WalkInput *input, uint32_t rule, uint64_t *cfa)
{
  uint64_t value = 0;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  WALK_CHECK (cfa, false);
  switch (RULE_KIND (rule))
    {
    case RULE_SP_FAR:
      *cfa = state->sp + RULE_FAR_OFFSET (rule);
      break;
    case RULE_SP_BX:
      *cfa = state->sp + RULE_BX_OFFSET (rule);
      break;
    case RULE_BP_BX:
      *cfa = state->fp + RULE_BX_OFFSET (rule);
      break;
    case RULE_REG:
      if (!walk_read_register (state, input, RULE_REG_NUMBER (rule), &value))
        return walk_stop (state, WALK_ESCAPE);
      *cfa = value + RULE_REG_OFFSET (rule);
      break;
    case RULE_BP_LOAD:
      if (!walk_read (input, state->fp - RULE_OFFSET (rule), cfa))
        return walk_stop (state, WALK_FAULT);
      break;
    case RULE_SP_LOAD:
      if (!walk_read (input, state->sp + RULE_OFFSET (rule), &value))
        return walk_stop (state, WALK_FAULT);
      *cfa = value + 8;
      break;
    case RULE_PLT:
      *cfa = state->sp + ((state->ip & 15) >= RULE_OFFSET (rule) / 8 ? 16 : 8);
      break;
    default:
      return walk_stop (state, WALK_ESCAPE);
    }
  return true;
}

/* Computes the CFA. FALSE: the walk has ended. */
WALK_INLINE bool
walk_find_cfa (WalkState *state, WalkInput *input, uint32_t rule, uint64_t *cfa)
{
  uint32_t kind = RULE_KIND (rule);

  if (kind == RULE_SP || kind == RULE_BP)
    *cfa = (kind == RULE_SP ? state->sp : state->fp) + RULE_OFFSET (rule);
  else if (!walk_find_rare_cfa (state, input, rule, cfa))
    return false;

  if (*cfa <= state->sp)
    return walk_stop (state, WALK_SP_NOT_RISING);
  return true;
}

/* Finds the caller's frame pointer. */
WALK_INLINE void
walk_find_fp (WalkState *state, WalkInput *input, uint32_t rule, uint64_t cfa, uint64_t *fp)
{
  uint32_t slot = RULE_SLOT (rule);
  uint64_t at;

  if (RULE_KIND (rule) == RULE_SP_FAR)
    {
      slot = RULE_FAR_SLOT (rule);
      if (slot >= SLOT_FAR_AT_FP)
        slot += SLOT_AT_FP - SLOT_FAR_AT_FP;
    }
  if (RULE_KIND (rule) == RULE_SP_BX || RULE_KIND (rule) == RULE_BP_BX)
    {
      slot = RULE_BX_SLOT (rule);
      if (slot >= SLOT_BX_AT_FP)
        slot += SLOT_AT_FP - SLOT_BX_AT_FP;
    }

  *fp = state->fp;
  if (slot == SLOT_UNCHANGED)
    return;
  at = slot == SLOT_AT_FP ? state->fp : cfa - UINT64_C (8) * slot;
  if (slot != SLOT_LOST && walk_read (input, at, fp))
    return;
  /* Tables of compilers list the register as saved even after it was popped, those of Go even
   * before it is pushed. If its slot is below the stack pointer, its value is still in the
   * register. */
  *fp = slot <= SLOT_MOST && at < state->sp
            ? state->fp
            : UINT64_MAX; /* fails every check; 0 would mean the start of a process */
}

/* Finds the caller's RBX by a rule that has its slot. FALSE: unknown. */
WALK_OUTLINE bool
walk_find_bx (WalkState *state, WalkInput *input, uint32_t rule, uint64_t cfa, uint64_t *bx)
{
  uint32_t slot = RULE_BX_BX (rule);

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  WALK_CHECK (bx, false);
  if (slot > SLOT_BX_MOST)
    return false;
  if (slot == SLOT_UNCHANGED)
    return walk_read_register (state, input, WALK_RBX, bx);
  return walk_read (input, cfa - UINT64_C (8) * slot, bx);
}

/* The CFA may equal the stack pointer. There is at most one such step, because only the first
 * frame's registers are known. */
WALK_INLINE bool
walk_step_by_register (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint64_t ip = 0;

  if (!walk_read_register (state, input, RULE_REG_NUMBER (rule), &ip))
    return walk_stop (state, WALK_ESCAPE);
  return walk_go_on (state, ip, state->sp + RULE_REG_OFFSET (rule), state->fp);
}
