// SPDX-License-Identifier: GPL-3.0-or-later

/* Steps out of libgcc while it transfers control to the handler of an exception. */

#pragma once

#include "bpf/walk/rule.h"

/* Members of libgcc's struct _Unwind_Context, unchanged since gcc 4.1: the addresses where a
 * frame's registers are saved, by DWARF number; its SP; the address where it continues; and the
 * size of the arguments on its stack. */
#define WALK_CONTEXT_FP        (8 * 6)
#define WALK_CONTEXT_SP        0x90
#define WALK_CONTEXT_IP        0x98
#define WALK_CONTEXT_ARGUMENTS 0xd0

/* libgcc transfers control to the frame with the handler, some of whose registers are still in
 * memory. Execution continues at the target of a jump. But for callers the rule is looked up at
 * the byte before the address, as after a call. So the address is one too high. */
WALK_OUTLINE bool
walk_step_by_eh_return (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint64_t sp = 0, ip = 0, fp, place = 0, arguments = 0;
  uint32_t mode = RULE_EH_RETURN_MODE (rule);

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  sp = state->sp;
  if (mode == EH_RETURN_CONTEXT)
    {
      uint64_t context = fp - RULE_EH_RETURN_OFFSET (rule);

      if (!walk_read (input, context + WALK_CONTEXT_IP, &ip) ||
          !walk_read (input, context + WALK_CONTEXT_SP, &sp) ||
          !walk_read (input, context + WALK_CONTEXT_ARGUMENTS, &arguments) ||
          !walk_read (input, context + WALK_CONTEXT_FP, &place) ||
          !walk_read (input, place, &fp))
        return walk_stop (state, WALK_FAULT);
      sp += arguments;
    }
  else
    {
      if (mode != EH_RETURN_TOP &&
          !walk_read_register (state, input, RULE_EH_RETURN_REGISTER (rule), &place))
        return walk_stop (state, WALK_ESCAPE);
      if (mode == EH_RETURN_SLOT)
        sp = place;
      ip = place;
      if (mode != EH_RETURN_JUMP)
        {
          if (!walk_read (input, sp, &ip))
            return walk_stop (state, WALK_FAULT);
          sp += 8;
        }
    }

  if (mode != EH_RETURN_JUMP && sp <= state->sp)
    return walk_stop (state, WALK_SP_NOT_RISING);
  return walk_go_on (state, ip + (ip != 0), sp, fp);
}
