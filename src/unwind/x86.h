// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes x86-64 instructions as far as code-reader.c needs it: their length, and their effect
 * on the stack. */

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
  X86_SPOIL_SP,     /* SP gets an unknown value */
  X86_SPOIL_BP,     /* BP gets an unknown value */
  X86_ZERO_BP,      /* BP = 0 */
  X86_STORE_BP,     /* BP is stored at SP + value */
  X86_LOAD_BP,      /* BP is loaded from SP + value */
  X86_CALL,         /* of `target`, 0 = indirect */
  X86_JUMP,         /* to `target`; 0 = indirect */
  X86_BRANCH,       /* conditional, to `target` */
  X86_RETURN,       /* nothing follows: ret, ud2, hlt, int3, iret */
  X86_CODE_ADDRESS, /* lea: takes the address `target` */
  X86_PADDING,      /* nop */
} X86Kind;

#define X86_BP          5u /* number in instructions */
#define X86_NO_REGISTER 255u

typedef struct
{
  uint8_t length; /* 1 to 15 */
  X86Kind kind;
  uint8_t number;
  /* of X86_JUMP: through a word at a fixed address, as for a function of another library */
  bool is_got;
  int64_t value;
  uint64_t target;
} X86Instruction;

/* Decodes the instruction at the start of `bytes`, whose address is `address`. FALSE: it is
 * invalid or truncated. */
bool sysprof_x86_decode (const uint8_t *bytes,
                         size_t size,
                         uint64_t address,
                         X86Instruction *instruction);
