// SPDX-License-Identifier: GPL-3.0-or-later

/* Steps out of libgcc while it transfers control to the handler of an exception. */

#pragma once

#include "bpf/walk/rule.h"

/* What libgcc knows of a frame, struct _Unwind_Context since gcc 4.1: where each register of its is, by DWARF number; what its SP
 * is; where it is to go on; and how many bytes of arguments are on its stack. */
#define WALK_CONTEXT_FP        (8 * 6)
#define WALK_CONTEXT_SP        0x90
#define WALK_CONTEXT_IP        0x98
#define WALK_CONTEXT_ARGUMENTS 0xd0

/* An exception is being handed over: on the stack is already who catches it, with some registers still in memory. It goes on
 * at an instruction to which it is jumped, while addresses are looked up a byte before, as behind a call. */
WALK_OUTLINE bool
walk_step_by_handover (WalkState *state, WalkInput *input, uint32_t rule)
{
  uint64_t sp = 0, ip = 0, fp, place = 0, arguments = 0;
  uint32_t mode = RULE_HANDOVER_MODE (rule);

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  sp = state->sp;
  if (mode == HANDOVER_CONTEXT)
    {
      uint64_t context = fp - RULE_HANDOVER_OFFSET (rule);

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
      if (mode != HANDOVER_TOP &&
          !walk_read_register (state, input, RULE_HANDOVER_REGISTER (rule), &place))
        return walk_stop (state, WALK_ESCAPE);
      if (mode == HANDOVER_SLOT)
        sp = place;
      ip = place;
      if (mode != HANDOVER_JUMP)
        {
          if (!walk_read (input, sp, &ip))
            return walk_stop (state, WALK_FAULT);
          sp += 8;
        }
    }

  if (mode != HANDOVER_JUMP && sp <= state->sp)
    return walk_stop (state, WALK_SP_NOT_RISING);
  return walk_go_on (state, ip + (ip != 0), sp, fp);
}
