// SPDX-License-Identifier: GPL-3.0-or-later

/* Steps from one stack to another in Go programs: from the runtime's stack to the goroutine's,
 * and between Go and C. */

#pragma once

#include "bpf/walk/rule.h"

/* Members of the Go runtime's struct g: the thread (m) it runs on, and its saved SP and IP. */
#define WALK_GO_THREAD 0x30
#define WALK_GO_SP     0x38
#define WALK_GO_IP     0x40

/* A walk changes stacks at most twice: for a signal's and for the runtime's. */
#define WALK_MOST_GO_STACKS 3

/* In struct g: end of the stack. In struct m: its own goroutine g0, which has the thread's
 * stack. */
#define WALK_GO_STACK_END   8
#define WALK_MOST_LANGUAGES 200

#define WALK_TAKE_WORD        0x0d8b48u /* mov …(%rip), %rcx */
#define WALK_TAKE_WORD_LENGTH 7

/* Finds the goroutine that runs on the thread. FALSE: the walk has ended. */
WALK_INLINE bool
walk_find_own_goroutine (WalkState *state, WalkInput *input, uint32_t rule, uint64_t *own)
{
  uint64_t base = 0, bytes = 0, below = -(uint64_t) RULE_GO_BELOW (rule);
  uint64_t at = state->is_exact ? state->ip : state->ip - 1;

  /* A copy contains only one stack. */
  if (!walk_thread_base (input, &base))
    return walk_stop (state, WALK_DEPTH);
  if (RULE_GO_BELOW (rule) == RULE_GO_BY_WORD)
    {
      at = (at & ~(uint64_t) (GO_BLOCK - 1)) - GO_BEFORE_BLOCK + RULE_GO_DISTANCE (rule);
      if (!walk_code (input, at, &bytes) || (bytes & 0xffffff) != WALK_TAKE_WORD)
        return walk_stop (state, WALK_ESCAPE);
      at += WALK_TAKE_WORD_LENGTH + (uint64_t) (int64_t) (int32_t) (bytes >> 24);
      if (!walk_read (input, at, &below))
        return walk_stop (state, WALK_FAULT);
    }
  if (!walk_read (input, base + below, own))
    return walk_stop (state, WALK_FAULT);
  return true;
}

/* Steps between Go and C, where one has called the other. The CFA need not rise. */
WALK_OUTLINE bool
walk_step_by_foreign (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint64_t base = 0, own = 0, thread = 0, goroutine = 0, sp = 0, ip = 0, fp;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  if (state->n_languages_left++ == WALK_MOST_LANGUAGES)
    return walk_stop (state, WALK_SP_NOT_RISING);
  if (!walk_thread_base (input, &base))
    return walk_stop (state, WALK_DEPTH);

  if (RULE_GO_BELOW (rule) == 0)
    {
      uint64_t end = 0, at = state->sp + RULE_GO_SIZE (rule);

      if (!walk_read (input, at, &sp) || !walk_read (input, at + 8, &goroutine) ||
          (goroutine != 0 && !walk_read (input, goroutine + WALK_GO_STACK_END, &end)))
        return walk_stop (state, WALK_FAULT);
      if (goroutine != 0)
        sp = end - sp;
      sp += 8;
    }
  else
    {
      if (RULE_GO_OFFSET (rule) != 0)
        {
          sp = state->sp;
        }
      else if (state->from_c != 0)
        {
          if (!walk_read (input, state->from_c, &sp))
            return walk_stop (state, WALK_FAULT);
        }
      else if (!walk_find_own_goroutine (state, input, rule, &own))
        {
          return false;
        }
      else if (!walk_read (input, own + WALK_GO_THREAD, &thread) ||
               !walk_read (input, thread, &goroutine) ||
               !walk_read (input, goroutine + WALK_GO_SP, &sp))
        {
          return walk_stop (state, WALK_FAULT);
        }
      state->from_c = sp;
      sp += RULE_GO_SIZE (rule);
      if (!walk_read (input, sp - 16, &fp))
        return walk_stop (state, WALK_FAULT);
    }

  if (!walk_read (input, sp - 8, &ip))
    return walk_stop (state, WALK_FAULT);
  return walk_go_on (state, ip, sp, fp);
}

/* Steps from the stack of Go's runtime to the goroutine's stack, as if it had been called
 * there. A thread without a goroutine works for the runtime only. The CFA need not rise. */
WALK_OUTLINE bool
walk_step_by_go (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint64_t own = 0, thread = 0, goroutine = 0, sp = 0, ip = 0, fp;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  if (state->n_stacks_left++ == WALK_MOST_GO_STACKS)
    return walk_stop (state, WALK_SP_NOT_RISING);
  if (RULE_GO_MODE (rule) == GO_FRAME)
    {
      sp = fp + RULE_GO_SIZE (rule);
    }
  else
    {
      if (!walk_find_own_goroutine (state, input, rule, &own))
        return false;
      if (!walk_read (input, own + WALK_GO_THREAD, &thread) ||
          !walk_read (input, thread + RULE_GO_OFFSET (rule), &goroutine))
        return walk_stop (state, WALK_FAULT);
      if (goroutine == 0)
        return walk_stop (state, WALK_END);
      if (!walk_read (input, goroutine + WALK_GO_SP, &sp) ||
          !walk_read (input, goroutine + WALK_GO_IP, &ip))
        return walk_stop (state, WALK_FAULT);
      if (RULE_GO_MODE (rule) == GO_GROWTH)
        return walk_go_on (state, ip, sp, fp);
      sp += RULE_GO_SIZE (rule) + 8;
    }

  if (!walk_read (input, sp - 8, &ip) ||
      (RULE_GO_SIZE (rule) != 0 && !walk_read (input, sp - 16, &fp)))
    return walk_stop (state, WALK_FAULT);
  return walk_go_on (state, ip, sp, fp);
}
