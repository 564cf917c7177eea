// SPDX-License-Identifier: GPL-3.0-or-later

/* Steps out of a signal handler, and reads registers that a signal frame has saved. */

#pragma once

#include "bpf/walk/frame-pointer.h"

/* A signal handler returns to code that calls rt_sigreturn(2), where SP points to struct
 * ucontext: uc_flags, uc_link, uc_stack (40 bytes); then r8 … r15, rdi, rsi, rbp, rbx, rdx,
 * rax, rcx, rsp, rip. */
#define WALK_SIGNAL_BP 120
#define WALK_SIGNAL_SP 160
#define WALK_SIGNAL_IP 168

/* arm64: SP points to siginfo (128 bytes), followed by struct ucontext: uc_flags, uc_link,
 * uc_stack, and space for the largest signal mask (168 bytes, aligned to 16); then a fault
 * address, x0 … x30, sp, pc. */
#define WALK_SIGNAL_X0    312
#define WALK_SIGNAL_X29   (WALK_SIGNAL_X0 + 8 * 29)
#define WALK_SIGNAL_ARM64 (WALK_SIGNAL_X0 + 8 * 31) /* sp, pc */

WALK_OUTLINE bool
walk_step_by_signal (WalkState *state, WalkInput *input)
{
  uint64_t ip = 0, sp = 0, fp = 0, lr = 0;
  uint64_t context;
  bool is_arm64;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  is_arm64 = WALK_IS_ARM64 (state);
  context = state->sp;
  if (is_arm64 && state->has_lost_sp)
    return walk_stop (state, WALK_BAD_FP);
  if (!walk_read (input, context + (is_arm64 ? WALK_SIGNAL_ARM64 + 8 : WALK_SIGNAL_IP), &ip) ||
      !walk_read (input, context + (is_arm64 ? WALK_SIGNAL_ARM64 : WALK_SIGNAL_SP), &sp) ||
      !walk_read (input, context + (is_arm64 ? WALK_SIGNAL_X29 : WALK_SIGNAL_BP), &fp) ||
      (is_arm64 && !walk_read (input, context + WALK_SIGNAL_X29 + 8, &lr)))
    return walk_stop (state, WALK_FAULT);
  if (!walk_go_on (state, ip, sp, fp))
    return false;

  state->lr = lr;
  state->context = context;
  state->is_exact = true;
  state->has_registers = true;
  state->used |= WALK_USED_SIGNAL;
  return true;
}

/* Offsets of the first eight registers in struct ucontext, by DWARF number: rax, rdx, rcx, rbx,
 * rsi, rdi, rbp, rsp, one byte each from the lowest. (A table in memory would be another
 * map.) */
#define WALK_SIGNAL_LOW_REGISTERS UINT64_C (0xa078687080988890)
#define WALK_SIGNAL_R8            40

/* Reads a register other than the stack and frame pointers. */
WALK_INLINE bool
walk_read_register (WalkState *state, WalkInput *input, uint32_t number, uint64_t *value)
{
  uint64_t offset = number < 8 ? WALK_SIGNAL_LOW_REGISTERS >> (8 * number) & 255
                               : WALK_SIGNAL_R8 + 8 * (number & 7);

  if (!state->has_registers)
    {
      *value = state->bx;
      return state->has_bx && number == WALK_RBX;
    }
  if (state->context == 0)
    return walk_register (input, number & 15, value);
  if (WALK_IS_ARM64 (state))
    offset = WALK_SIGNAL_X0 + 8 * (number & 15);
  return walk_read (input, state->context + offset, value);
}
