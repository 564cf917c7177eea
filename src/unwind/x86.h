// SPDX-License-Identifier: GPL-3.0-or-later

/* x86-64 instructions, as far as a reader of prologues needs them: how long, and what they do to the stack. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum
{
  X86_OTHER,
  X86_INVALID,
  X86_PUSH,         /* `number`: the register, or X86_NO_REGISTER */
  X86_POP,          /* the same */
  X86_ADD_SP,       /* SP += value */
  X86_SP_FROM_BP,   /* SP = BP + value */
  X86_BP_FROM_SP,   /* BP = SP + value */
  X86_LEAVE,        /* SP = BP, pop BP */
  X86_SPOIL_SP,     /* SP is something else */
  X86_SPOIL_BP,     /* BP is something else */
  X86_ZERO_BP,      /* BP = 0 */
  X86_STORE_BP,     /* BP is stored at SP + value */
  X86_LOAD_BP,      /* and loaded from there */
  X86_CALL,         /* of `target`, 0 = not said in the instruction */
  X86_JUMP,         /* to `target`; 0: to a place in memory or in a register */
  X86_BRANCH,       /* to `target`, or on */
  X86_RETURN,       /* nothing comes behind: ret, ud2, hlt, int3, iret */
  X86_CODE_ADDRESS, /* lea: `target` is taken as an address */
  X86_PADDING,      /* nop */
} X86Kind;

#define X86_BP          5u /* as instructions number it */
#define X86_NO_REGISTER 255u

typedef struct
{
  uint8_t length; /* 1 to 15 */
  X86Kind kind;
  uint8_t number;
  bool
      is_got; /* of X86_JUMP: through a word at a fixed place, as to a function of another library */
  int64_t value;
  uint64_t target;
} X86Instruction;

/* The instruction at the beginning of `bytes`, which stand at `address`. FALSE: there is none, or it is cut. */
bool sysprof_x86_decode (const uint8_t *bytes,
                         size_t size,
                         uint64_t address,
                         X86Instruction *instruction);
