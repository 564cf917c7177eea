// SPDX-License-Identifier: GPL-3.0-or-later

/* Steps through code without unwind rules, by its frame pointer; also for 32-bit processes,
 * which have no unwind tables. */

#pragma once

#include "bpf/walk/tables.h"

WALK_INLINE bool
walk_stop (WalkState *state, uint32_t reason)
{
  bool is_doubtful = (state->used & WALK_USED_DOUBT) != 0;

  state->reason =
      is_doubtful && (reason == WALK_END || reason == WALK_ROOT) ? WALK_TABLE_FAILED : reason;
  return false;
}

/* Removes the signature that arm64 puts into unused bits of a return address. */
WALK_INLINE uint64_t
walk_strip (const WalkState *state, uint64_t ip)
{
  return WALK_IS_ARM64 (state) ? ip & state->code_mask : ip;
}

WALK_INLINE bool
walk_go_on (WalkState *state, uint64_t ip, uint64_t sp, uint64_t fp)
{
  if (ip == 0)
    return walk_stop (state, WALK_ZERO);

  state->ip = ip;
  state->sp = sp;
  state->fp = fp;
  state->context = 0;
  state->is_exact = false;
  state->is_by_fp = false;
  state->has_registers = false;
  state->has_bx = false;
  state->has_lost_sp = false;
  return true;
}

/* In code with frame pointers, a function has no frame in its first two and its last
 * instructions. Returns how many words are on the stack before the return address; 2: the frame
 * exists, or this is unknown. `bytes` begin one byte before the instruction. */
WALK_INLINE uint32_t
walk_words_before_return (uint64_t bytes)
{
  uint32_t before = bytes & 0xff, one = bytes >> 8 & 0xff, two = bytes >> 8 & 0xffff;
  uint32_t three = bytes >> 8 & 0xffffff;

  if ((uint32_t) (bytes >> 8) == 0xfa1e0ff3u /* endbr64 */ || one == 0x55 /* push %rbp */ ||
      one == 0xc3 || one == 0xc2 || two == 0xc3f3 /* ret */)
    return 0;
  /* jmp *x(%rip), possibly with a prefix: a PLT stub or an ifunc stub (those of static programs
   * have no rules), or a tail call. Jumps within a function do not look like this. */
  if (two == 0x25ff || three == 0x25fff2 || three == 0x25ff3e)
    return 0;
  /* jmp after pop %rbp: a tail call */
  if (before == 0x5d && (one == 0xe9 || one == 0xeb || (two & 0x38ff) == 0x20ff))
    return 0;
  if (three == 0xe58948 || three == 0xec8b48 /* mov %rsp, %rbp: RBP is already pushed */)
    return 1;
  return 2;
}

/* arm64: whether the return address is in X30 and the caller's frame pointer in X29 before this
 * instruction. This is the case at the start of a function, at its last instruction, and in PLT
 * stubs. */
WALK_INLINE bool
walk_is_before_frame (uint32_t instruction)
{
  return instruction == 0xd503233f /* paciasp */ || instruction == 0xd503245f /* bti c */ ||
         (instruction & 0xffc07fff) == 0xa9807bfd /* stp x29, x30, [sp, #n]! */ ||
         instruction == 0xd65f03c0 /* ret */ || instruction == 0xd65f0bff /* retaa */ ||
         instruction == 0xd50323bf /* autiasp */ ||
         (instruction & 0x9f00001f) == 0x90000010 /* adrp x16 */ ||
         (instruction & 0xffc003ff) == 0xf9400211 /* ldr x17, [x16, #n] */ ||
         (instruction & 0xffc003ff) == 0x91000210 /* add x16, x16, #n */ ||
         instruction == 0xd61f0220 /* br x17 */;
}

WALK_INLINE bool
walk_step_out_of_prologue_arm64 (WalkState *state, WalkInput *input)
{
  uint64_t bytes = 0, fp = state->fp, ip = state->lr, sp = state->sp;
  uint32_t instruction;
  bool is_pushed;

  if (!walk_code (input, state->ip - 1, &bytes))
    return false;
  instruction = (uint32_t) (bytes >> 8);
  is_pushed = (instruction & 0xffc003ff) == 0x910003fd; /* add x29, sp, #n: a mov if n is 0 */
  if (!is_pushed && !walk_is_before_frame (instruction))
    return false;
  if (is_pushed)
    {
      sp += instruction >> 10 & 0xfff;
      if (!walk_read (input, sp, &fp) || !walk_read (input, sp + 8, &ip))
        return false;
      sp += 16;
    }

  ip = walk_strip (state, ip);
  if (!walk_find_mapping (state, input, ip - 1))
    return false;
  state->used |= WALK_USED_FP;
  if (!walk_go_on (state, ip, sp, fp))
    return false;
  state->has_lost_sp = is_pushed;
  return true;
}

/* Steps from the first frame, in code without rules, if that frame does not exist at this
 * instruction. FALSE: it does, or this is unknown. */
WALK_INLINE bool
walk_step_out_of_prologue (WalkState *state, WalkInput *input)
{
  uint64_t bytes = 0, fp = state->fp, ip = 0;
  uint32_t n;

  if (WALK_IS_ARM64 (state))
    return walk_step_out_of_prologue_arm64 (state, input);
  if (!walk_code (input, state->ip - 1, &bytes))
    return false;
  n = walk_words_before_return (bytes);
  if (n == 2 || !walk_read (input, state->sp + 8 * n, &ip) ||
      (n == 1 && !walk_read (input, state->sp, &fp)) ||
      !walk_find_mapping (state, input, ip - 1))
    return false;

  state->used |= WALK_USED_FP;
  return walk_go_on (state, ip, state->sp + 8 * n + 8, fp);
}

/* Steps through code without rules. The frame pointer must point to a saved one, with a return
 * address into code above it. A register that contains a stack address by chance rarely passes
 * these checks. */
WALK_OUTLINE bool
walk_step_by_fp (WalkState *state, WalkInput *input)
{
  uint64_t caller_fp = 0, ip = 0;
  uint64_t fp;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  if (state->has_registers && walk_step_out_of_prologue (state, input))
    return true;

  /* The frame pointer is 0 when a process or thread starts. Without an earlier step by frame
   * pointer, the register may just contain the number 0. */
  if (fp == 0 && state->is_by_fp)
    return walk_stop (state, WALK_ROOT);

  if ((fp & 7) != 0 || fp < state->sp || fp - state->sp > WALK_MOST_FP_FRAME)
    return walk_stop (state, WALK_BAD_FP);
  if (!walk_read (input, fp, &caller_fp) || !walk_read (input, fp + 8, &ip))
    return walk_stop (state, WALK_BAD_FP);
  ip = walk_strip (state, ip);
  if (ip == 0 && caller_fp == 0 && state->is_by_fp)
    return walk_stop (state, WALK_ROOT);
  /* The saved frame pointer may be any value if the caller has rules. */
  if (!walk_find_mapping (state, input, ip - 1))
    return walk_stop (state, WALK_BAD_FP);

  state->used |= state->has_registers ? WALK_USED_FP | WALK_USED_FP_FIRST : WALK_USED_FP;
  if (!walk_go_on (state, ip, fp + 16, caller_fp))
    return false;
  state->is_by_fp = true;
  /* The pair may be anywhere in the frame, so SP is unknown. */
  state->has_lost_sp = WALK_IS_ARM64 (state);
  return true;
}

/* A 32-bit process has no tables. In a system call, it is in a stub of the kernel, which has
 * pushed three words. The first of these is the caller's frame pointer, and the return address
 * follows them. */
#define WALK_COMPAT_STUB_FRAME 16

WALK_INLINE bool
walk_step_out_of_compat_stub (WalkState *state, WalkInput *input)
{
  uint64_t low = 0, high = 0;

  if (!walk_read (input, state->sp, &low) || !walk_read (input, state->sp + 8, &high) ||
      !walk_find_mapping (state, input, (high >> 32) - 1))
    return false;
  return walk_go_on (state, high >> 32, state->sp + WALK_COMPAT_STUB_FRAME, (uint32_t) low);
}

/* At the start of a 32-bit process the stack has the number of arguments, their addresses,
 * which are higher, and a 0. A compiled function that starts there saves a frame pointer of 0,
 * and seems to return to that number. */
WALK_INLINE bool
walk_is_compat_entry (WalkInput *input, uint64_t fp, uint64_t words)
{
  uint64_t n = words >> 32, argument = 0, end = 0;

  return (uint32_t) words == 0 && n > 0 && walk_read (input, fp + 8, &argument) &&
         (uint32_t) argument > fp && walk_read (input, fp + 8 + 4 * n, &end) &&
         (uint32_t) end == 0;
}

/* One step in a 32-bit process, with words of 4 bytes. */
WALK_OUTLINE bool
sysprof_walk_compat_step (WalkState *state, WalkInput *input, bool is_in_call)
{
  uint64_t words = 0;
  uint64_t fp;

  WALK_CHECK (state, false);
  WALK_CHECK (input, false);
  fp = state->fp;
  state->used |= WALK_USED_COMPAT;
  if (state->has_registers && is_in_call && walk_step_out_of_compat_stub (state, input))
    return true;
  if (fp == 0 && !state->has_registers)
    return walk_stop (state, WALK_ROOT);

  if ((fp & 3) != 0 || fp < state->sp || fp - state->sp > WALK_MOST_FP_FRAME ||
      !walk_read (input, fp, &words))
    return walk_stop (state, WALK_COMPAT);
  /* In the first frame the register may contain any number. */
  if (words == 0)
    return walk_stop (state, state->has_registers ? WALK_COMPAT : WALK_ROOT);
  if (walk_is_compat_entry (input, fp, words))
    return walk_stop (state, WALK_ROOT);
  if (!walk_find_mapping (state, input, (words >> 32) - 1))
    return walk_stop (state, WALK_COMPAT);
  return walk_go_on (state, words >> 32, fp + 8, (uint32_t) words);
}
