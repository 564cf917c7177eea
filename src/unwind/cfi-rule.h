// SPDX-License-Identifier: GPL-3.0-or-later

/* What call-frame instructions have said about one place, as far as walking needs it. */

#pragma once

#include "unwind/cursor.h"

typedef enum
{
  WHERE_UNSPECIFIED, /* by convention: unchanged */
  WHERE_UNDEFINED,
  WHERE_SAME,
  WHERE_AT_CFA,     /* saved at CFA + offset */
  WHERE_EXPRESSION, /* saved at the address that the expression gives */
  WHERE_REGISTER,   /* in the register number `offset` */
  WHERE_ELSEWHERE,  /* a value that is computed */
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

/* DWARF numbers of the registers that walking is about. */
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
  bool is_signal; /* the kernel makes this frame */
  bool wants_bx;  /* rules shall say where RBX is */
} CfiRuleKind;

/* The state in the form of a table's rule. */
uint32_t sysprof_cfi_rule (const CfiState *state, CfiRuleKind kind);
