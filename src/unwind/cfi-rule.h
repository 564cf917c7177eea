// SPDX-License-Identifier: GPL-3.0-or-later

/* The state of the unwind registers at one address, as call-frame instructions have described
 * it. */

#pragma once

#include "unwind/cursor.h"

typedef enum
{
  WHERE_UNSPECIFIED, /* by convention: unchanged */
  WHERE_UNDEFINED,
  WHERE_SAME,
  WHERE_AT_CFA,     /* saved at CFA + offset */
  WHERE_EXPRESSION, /* saved at the address that an expression computes */
  WHERE_REGISTER,   /* in the register number `offset` */
  WHERE_ELSEWHERE,  /* a computed value */
} WhereKind;

typedef struct
{
  WhereKind kind;
  int64_t offset;
  Cursor expression;
} Where;

typedef enum
{
  CFA_UNDEFINED,
  CFA_REGISTER,
  CFA_EXPRESSION,
} CfaKind;

typedef struct
{
  CfaKind cfa;
  uint64_t cfa_register; /* DWARF number */
  int64_t cfa_offset;
  Cursor cfa_expression;
  Where fp;
  Where ra;
  Where bx; /* x86-64: RBX */
} CfiState;

/* DWARF numbers of the registers that unwinding needs. */
typedef struct
{
  uint8_t fp;
  uint8_t sp;
  uint8_t ra;
  uint8_t bx;
} CfiMachine;

extern const CfiMachine sysprof_cfi_x86_64;
extern const CfiMachine sysprof_cfi_arm64;

typedef struct
{
  bool is_arm64;
  bool is_signal; /* a signal frame */
  bool wants_bx;  /* rules should include RBX */
} CfiRuleKind;

/* Converts the state to a rule of the table. */
uint32_t sysprof_cfi_rule (const CfiState *state, CfiRuleKind kind);
