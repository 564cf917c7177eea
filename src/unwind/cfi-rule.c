// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts the state after call-frame instructions to a rule of 32 bits. Expressions are
 * recognized, not computed: a few forms cover nearly all rows of a whole distribution. */

#include "unwind/cfi-rule.h"

#include "bpf/bpf.h"

/* x86-64 psABI, figure 3.36; DWARF for the Arm 64-bit architecture, 4.1. */
const CfiMachine sysprof_cfi_x86_64 = { .fp = 6, .sp = 7, .ra = 16, .bx = 3 };
const CfiMachine sysprof_cfi_arm64 = { .fp = 29, .sp = 31, .ra = 30, .bx = UINT8_MAX };

#define DW_OP_DEREF       0x06
#define DW_OP_CONST1U     0x08
#define DW_OP_PLUS        0x22
#define DW_OP_PLUS_UCONST 0x23
#define DW_OP_LIT0        0x30
#define DW_OP_BREG0       0x70

/* A signal frame on x86-64: SP points to struct ucontext, which has the interrupted SP at byte
 * 160. */
#define SIGNAL_SP 160

static bool
is_multiple_of_8 (int64_t offset)
{
  return (offset & 7) == 0;
}

/* Takes a register's value plus a number, and leaves `expression` after it. */
static bool
take_base (Cursor *expression, uint8_t *number, int64_t *offset)
{
  uint8_t operation;

  if (!cursor_u8 (expression, &operation) || operation < DW_OP_BREG0 ||
      operation > DW_OP_BREG0 + 31)
    return false;
  *number = operation - DW_OP_BREG0;
  return cursor_sleb128 (expression, offset);
}

/* Whether the expression is "SP + 8, and 8 more if IP & 15 is at least `*threshold`". Linkers
 * use it for a stub that pushes a word in its middle: breg7 8; breg16 0; lit15; and; lit…; ge;
 * lit3; shl; plus. */
static bool
is_plt (Cursor expression, uint32_t *threshold)
{
  static const uint8_t before[] = { 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a };
  static const uint8_t behind[] = { 0x2a, 0x33, 0x24, 0x22 };
  const uint8_t *literal = expression.at + sizeof before;

  if (cursor_left (&expression) != sizeof before + 1 + sizeof behind ||
      memcmp (expression.at, before, sizeof before) != 0 ||
      memcmp (literal + 1, behind, sizeof behind) != 0)
    return false;
  if (*literal < DW_OP_LIT0 || *literal > DW_OP_LIT0 + 15)
    return false;

  *threshold = *literal - DW_OP_LIT0;
  return true;
}

/* After a load: takes nothing (0), or a number to add. */
static bool
take_addend (Cursor *expression, uint64_t *addend)
{
  uint8_t operation;

  *addend = 0;
  if (cursor_left (expression) == 0)
    return true;
  if (!cursor_u8 (expression, &operation))
    return false;
  if (operation == DW_OP_PLUS_UCONST)
    return cursor_uleb128 (expression, addend) && cursor_left (expression) == 0;
  if (operation < DW_OP_LIT0 || operation > DW_OP_LIT0 + 31)
    return false;

  *addend = operation - DW_OP_LIT0;
  return cursor_u8 (expression, &operation) && operation == DW_OP_PLUS &&
         cursor_left (expression) == 0;
}

static uint32_t
rule_of_register (uint64_t number, int64_t offset, uint32_t slot, const CfiMachine *machine)
{
  if (offset < 0 || !is_multiple_of_8 (offset))
    return RULE_ESCAPE;

  if (number == machine->sp)
    {
      if (offset <= RULE_MOST_OFFSET)
        return RULE_MAKE (RULE_SP, offset, slot);
      if (offset > RULE_FAR_MOST_OFFSET)
        return RULE_ESCAPE;
      if (slot >= SLOT_AT_FP)
        slot -= SLOT_AT_FP - SLOT_FAR_AT_FP;
      else if (slot > RULE_FAR_MOST_SLOT)
        slot = SLOT_FAR_LOST;
      return RULE_MAKE_FAR (offset, slot);
    }
  if (number == machine->fp)
    return offset <= RULE_MOST_OFFSET ? RULE_MAKE (RULE_BP, offset, slot) : RULE_ESCAPE;
  if (number < 16 && offset <= RULE_REG_MOST_OFFSET)
    return RULE_MAKE (RULE_REG, RULE_REG_FIELD (number, offset), slot);
  return RULE_ESCAPE;
}

static uint32_t
rule_of_expression (Cursor expression, uint32_t slot, const CfiMachine *machine, bool is_signal)
{
  uint32_t threshold;
  uint64_t addend;
  uint8_t number, operation;
  int64_t offset;

  if (machine == &sysprof_cfi_x86_64 && is_plt (expression, &threshold))
    return RULE_MAKE (RULE_PLT, threshold * 8, slot);

  if (!take_base (&expression, &number, &offset))
    return RULE_ESCAPE;
  if (cursor_left (&expression) == 0)
    return rule_of_register (number, offset, slot, machine);

  if (!cursor_u8 (&expression, &operation) || operation != DW_OP_DEREF ||
      !take_addend (&expression, &addend) || !is_multiple_of_8 (offset))
    return RULE_ESCAPE;

  if (is_signal)
    return number == machine->sp && offset == SIGNAL_SP && addend == 0
               ? RULE_MAKE (RULE_SIGNAL, 0, 0)
               : RULE_ESCAPE;
  if (number == machine->fp && addend == 0 && offset <= 0 &&
      offset >= -(int64_t) RULE_MOST_OFFSET)
    return RULE_MAKE (RULE_BP_LOAD, -offset, slot);
  if (number == machine->sp && addend == 8 && offset >= 0 && offset <= RULE_MOST_OFFSET)
    return RULE_MAKE (RULE_SP_LOAD, offset, slot);
  return RULE_ESCAPE;
}

/* The slot of a register of the caller. If the format cannot express it, the register is lost,
 * which matters only if a frame needs it. */
static uint32_t
slot_of (const CfiState *state, const Where *where, const CfiMachine *machine)
{
  Cursor expression = where->expression;
  int64_t offset;
  uint8_t number;

  switch (where->kind)
    {
    case WHERE_UNSPECIFIED:
    case WHERE_SAME:
      return SLOT_UNCHANGED;
    case WHERE_AT_CFA:
      offset = where->offset;
      break;
    case WHERE_EXPRESSION:
      if (!take_base (&expression, &number, &offset) || cursor_left (&expression) != 0)
        return SLOT_LOST;
      if (number == machine->fp && offset == 0)
        return SLOT_AT_FP;
      if (state->cfa != CFA_REGISTER || number != state->cfa_register ||
          __builtin_sub_overflow (offset, state->cfa_offset, &offset))
        return SLOT_LOST;
      break;
    default:
      return SLOT_LOST;
    }

  if (offset >= 0 || !is_multiple_of_8 (offset) || offset < -8 * (int64_t) SLOT_MOST)
    return SLOT_LOST;
  return (uint32_t) (-offset / 8);
}

/* The dynamic loader is entered from a stub that has pushed X30 and another word below it. The
 * loader's rules do not count these two words: the return address is above their CFA. */
#define PUSHED_BY_STUB 16

/* `saved`: position of the pair, or of the return address if `is_link`, in bytes below the CFA;
 * 0 = in the link register. */
static uint32_t
far_rule_of_arm64 (int64_t cfa_offset, int64_t saved, bool is_link)
{
  uint32_t slot = is_link ? FAR_LINK : 0;

  if (cfa_offset > RULE_FAR_MOST_OFFSET || !is_multiple_of_8 (saved))
    return RULE_ESCAPE;
  if (saved == 0)
    return RULE_MAKE_FAR (cfa_offset, FAR_IN_LR);
  if (saved <= cfa_offset && cfa_offset - saved <= 8 * (int64_t) FAR_MOST_WORDS)
    return RULE_MAKE_FAR (cfa_offset, slot | (uint32_t) (cfa_offset - saved) / 8);
  if (saved > 0 && saved <= 8 * (int64_t) FAR_MOST_WORDS)
    return RULE_MAKE_FAR (cfa_offset, slot | FAR_FROM_CFA | (uint32_t) saved / 8);
  return RULE_ESCAPE;
}

/* arm64 saves the frame pointer, followed by the link register. A rule can describe such a
 * pair, code that has saved only the link register, and code that has not saved it. */
static uint32_t
rule_of_arm64 (const CfiState *state, bool is_signal)
{
  const CfiMachine *machine = &sysprof_cfi_arm64;
  uint32_t slot = slot_of (state, &state->fp, machine);
  Where link = state->ra;
  int64_t cfa_offset = state->cfa_offset;
  uint32_t link_slot;

  if (is_signal)
    return RULE_MAKE (RULE_SIGNAL, 0, 0);
  if (link.kind == WHERE_UNDEFINED)
    return RULE_MAKE (RULE_END, 0, 0);
  if (state->cfa != CFA_REGISTER)
    return RULE_ESCAPE;

  if (link.kind == WHERE_AT_CFA && state->fp.kind == WHERE_AT_CFA)
    {
      if (link.offset >= 0 || link.offset - 8 != state->fp.offset)
        return RULE_ESCAPE;
      if (state->cfa_register == machine->sp && cfa_offset > RULE_MOST_OFFSET &&
          is_multiple_of_8 (cfa_offset))
        return far_rule_of_arm64 (cfa_offset, 8 - link.offset, false);
      return slot <= SLOT_MOST
                 ? rule_of_register (state->cfa_register, cfa_offset, slot, machine)
                 : RULE_ESCAPE;
    }

  if (state->cfa_register != machine->sp || cfa_offset < 0 || !is_multiple_of_8 (cfa_offset))
    return RULE_ESCAPE;
  if (cfa_offset > (int64_t) RULE_MOST_OFFSET - PUSHED_BY_STUB)
    {
      if (slot != SLOT_UNCHANGED)
        return RULE_ESCAPE;
      if (link.kind == WHERE_UNSPECIFIED || link.kind == WHERE_SAME)
        return far_rule_of_arm64 (cfa_offset, 0, true);
      return link.kind == WHERE_AT_CFA && link.offset < 0 && link.offset > INT64_MIN
                 ? far_rule_of_arm64 (cfa_offset, -link.offset, true)
                 : RULE_ESCAPE;
    }
  if (link.kind == WHERE_AT_CFA && link.offset == PUSHED_BY_STUB - 8)
    {
      link.offset -= PUSHED_BY_STUB;
      cfa_offset += PUSHED_BY_STUB;
    }
  if (link.kind == WHERE_UNSPECIFIED || link.kind == WHERE_SAME)
    return slot <= SLOT_MOST ? RULE_MAKE (RULE_LR, cfa_offset, slot) : RULE_ESCAPE;

  link_slot = slot_of (state, &link, machine);
  if (link.kind != WHERE_AT_CFA || slot != SLOT_UNCHANGED || link_slot == SLOT_UNCHANGED ||
      link_slot > SLOT_MOST)
    return RULE_ESCAPE;
  return RULE_MAKE (RULE_SP_LINK, cfa_offset, link_slot);
}

/* Adds RBX to the rule if there is space. */
static uint32_t
with_bx (uint32_t rule, const CfiState *state)
{
  uint32_t bx = slot_of (state, &state->bx, &sysprof_cfi_x86_64);
  uint32_t slot = RULE_SLOT (rule);

  if ((RULE_KIND (rule) != RULE_SP && RULE_KIND (rule) != RULE_BP) ||
      RULE_OFFSET (rule) > RULE_BX_MOST_OFFSET)
    return rule;

  if (slot >= SLOT_AT_FP)
    slot -= SLOT_AT_FP - SLOT_BX_AT_FP;
  else if (slot > SLOT_BX_MOST)
    return rule;
  if (bx > SLOT_BX_MOST)
    bx = SLOT_BX_LOST;
  return RULE_MAKE_BX (RULE_KIND (rule) == RULE_SP ? RULE_SP_BX : RULE_BP_BX,
                       RULE_OFFSET (rule), slot, bx);
}

/* vfork() keeps its return address in a register, because the child uses the same stack. */
static uint32_t
rule_of_ra_register (const CfiState *state)
{
  if (state->cfa != CFA_REGISTER || state->cfa_register != sysprof_cfi_x86_64.sp ||
      state->cfa_offset < 0 || !is_multiple_of_8 (state->cfa_offset) ||
      state->cfa_offset > RULE_REG_MOST_OFFSET ||
      slot_of (state, &state->fp, &sysprof_cfi_x86_64) != SLOT_UNCHANGED)
    return RULE_ESCAPE;
  return RULE_MAKE (RULE_RA, RULE_REG_FIELD (state->ra.offset, state->cfa_offset),
                    SLOT_UNCHANGED);
}

uint32_t
sysprof_cfi_rule (const CfiState *state, CfiRuleKind kind)
{
  const CfiMachine *machine = &sysprof_cfi_x86_64;
  uint32_t slot, rule;

  if (kind.is_arm64)
    return rule_of_arm64 (state, kind.is_signal);

  if (state->cfa == CFA_EXPRESSION && kind.is_signal)
    return rule_of_expression (state->cfa_expression, 0, machine, true);
  if (state->ra.kind == WHERE_UNDEFINED)
    return RULE_MAKE (RULE_END, 0, 0);
  if (state->ra.kind == WHERE_REGISTER && !kind.is_signal)
    return rule_of_ra_register (state);
  /* An unknown form of a signal frame, or a return address that is not where a call puts it. */
  if (kind.is_signal || state->ra.kind != WHERE_AT_CFA || state->ra.offset != -8)
    return RULE_ESCAPE;

  slot = slot_of (state, &state->fp, machine);
  if (state->cfa == CFA_EXPRESSION)
    return rule_of_expression (state->cfa_expression, slot, machine, false);
  if (state->cfa != CFA_REGISTER)
    return RULE_ESCAPE;

  rule = rule_of_register (state->cfa_register, state->cfa_offset, slot, machine);
  return kind.wants_bx ? with_bx (rule, state) : rule;
}
