// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs call-frame instructions. Each byte is read once, there are no jumps, and the number of
 * remembered states is limited. So the time for a function is bounded by its bytes, whatever
 * they contain. */

#include "unwind/cfi-program.h"

#include "bpf/bpf.h"

#define MOST_REMEMBERED 32 /* states; compilers need 2 */

enum
{
  /* The operation is in the upper two bits, an operand in the others. */
  DW_CFA_ADVANCE_LOC = 0x40,
  DW_CFA_OFFSET = 0x80,
  DW_CFA_RESTORE = 0xc0,

  DW_CFA_NOP = 0x00,
  DW_CFA_SET_LOC = 0x01,
  DW_CFA_ADVANCE_LOC1 = 0x02,
  DW_CFA_ADVANCE_LOC2 = 0x03,
  DW_CFA_ADVANCE_LOC4 = 0x04,
  DW_CFA_OFFSET_EXTENDED = 0x05,
  DW_CFA_RESTORE_EXTENDED = 0x06,
  DW_CFA_UNDEFINED = 0x07,
  DW_CFA_SAME_VALUE = 0x08,
  DW_CFA_REGISTER = 0x09,
  DW_CFA_REMEMBER_STATE = 0x0a,
  DW_CFA_RESTORE_STATE = 0x0b,
  DW_CFA_DEF_CFA = 0x0c,
  DW_CFA_DEF_CFA_REGISTER = 0x0d,
  DW_CFA_DEF_CFA_OFFSET = 0x0e,
  DW_CFA_DEF_CFA_EXPRESSION = 0x0f,
  DW_CFA_EXPRESSION = 0x10,
  DW_CFA_OFFSET_EXTENDED_SF = 0x11,
  DW_CFA_DEF_CFA_SF = 0x12,
  DW_CFA_DEF_CFA_OFFSET_SF = 0x13,
  DW_CFA_VAL_OFFSET = 0x14,
  DW_CFA_VAL_OFFSET_SF = 0x15,
  DW_CFA_VAL_EXPRESSION = 0x16,
  DW_CFA_NEGATE_RA_STATE =
      0x2d, /* arm64: return addresses have a signature, which is removed in any case */
  DW_CFA_GNU_ARGS_SIZE = 0x2e,
  DW_CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

typedef struct
{
  const Cfi *cfi;
  const CfiCommon *common;
  Cursor at;
  CfiState state;
  CfiState remembered[MOST_REMEMBERED];
  unsigned n_remembered;
} Program;

/* --- operands --- */

static bool
take_offset (Program *self, int64_t *offset)
{
  uint64_t factor;

  return cursor_uleb128 (&self->at, &factor) && factor <= INT64_MAX &&
         !__builtin_mul_overflow ((int64_t) factor, self->common->data_align, offset);
}

static bool
take_signed_offset (Program *self, int64_t *offset)
{
  int64_t factor;

  return cursor_sleb128 (&self->at, &factor) &&
         !__builtin_mul_overflow (factor, self->common->data_align, offset);
}

static bool
take_plain_offset (Program *self, int64_t *offset)
{
  uint64_t value;

  if (!cursor_uleb128 (&self->at, &value) || value > INT64_MAX)
    return false;
  *offset = (int64_t) value;
  return true;
}

static bool
take_expression (Program *self, Cursor *expression)
{
  uint64_t size;

  if (!cursor_uleb128 (&self->at, &size) || size > cursor_left (&self->at))
    return false;
  *expression = (Cursor){ self->at.at, self->at.at + size };
  self->at.at += size;
  return true;
}

/* --- registers --- */

/* Only three registers matter. Instructions about others are parsed and ignored. */
static Where *
where_of (Program *self, CfiState *state, uint64_t number)
{
  const CfiMachine *machine = self->common->machine;

  if (number == machine->fp)
    return &state->fp;
  if (number == machine->ra)
    return &state->ra;
  return number == machine->bx ? &state->bx : NULL;
}

static void
set_where (Program *self, uint64_t number, Where where)
{
  Where *saved = where_of (self, &self->state, number);

  if (saved != NULL)
    *saved = where;
}

static void
restore (Program *self, uint64_t number)
{
  const Where *initial =
      where_of (self, (CfiState *) (uintptr_t) &self->common->initial, number);

  if (initial != NULL)
    set_where (self, number, *initial);
}

static void
define_cfa (Program *self, uint64_t number, int64_t offset)
{
  self->state.cfa = CFA_REGISTER;
  self->state.cfa_register = number;
  self->state.cfa_offset = offset;
}

/* --- instructions --- */

/* The instructions about registers, whose first operand is the register. */
static bool
run_register_instruction (Program *self, uint8_t operation)
{
  Where where = { 0 };
  uint64_t number, other;

  if (!cursor_uleb128 (&self->at, &number))
    return false;

  switch (operation)
    {
    case DW_CFA_OFFSET_EXTENDED:
      where.kind = WHERE_AT_CFA;
      if (!take_offset (self, &where.offset))
        return false;
      break;
    case DW_CFA_OFFSET_EXTENDED_SF:
      where.kind = WHERE_AT_CFA;
      if (!take_signed_offset (self, &where.offset))
        return false;
      break;
    case DW_CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
      where.kind = WHERE_AT_CFA;
      if (!take_offset (self, &where.offset) ||
          __builtin_sub_overflow (0, where.offset, &where.offset))
        return false;
      break;
    case DW_CFA_VAL_OFFSET:
    case DW_CFA_VAL_OFFSET_SF:
      where.kind = WHERE_ELSEWHERE;
      if (!cursor_uleb128 (&self->at, &other))
        return false;
      break;
    case DW_CFA_REGISTER:
      if (!cursor_uleb128 (&self->at, &other))
        return false;
      where.kind = other < 16 ? WHERE_REGISTER : WHERE_ELSEWHERE;
      where.offset = (int64_t) (other & 15);
      break;
    case DW_CFA_EXPRESSION:
      where.kind = WHERE_EXPRESSION;
      if (!take_expression (self, &where.expression))
        return false;
      break;
    case DW_CFA_VAL_EXPRESSION:
      where.kind = WHERE_ELSEWHERE;
      if (!take_expression (self, &where.expression))
        return false;
      break;
    case DW_CFA_UNDEFINED:
      where.kind = WHERE_UNDEFINED;
      break;
    case DW_CFA_SAME_VALUE:
      where.kind = WHERE_SAME;
      break;
    case DW_CFA_RESTORE_EXTENDED:
      restore (self, number);
      return true;
    default:
      return false;
    }

  set_where (self, number, where);
  return true;
}

static bool
run_cfa_instruction (Program *self, uint8_t operation)
{
  CfiState *state = &self->state;
  uint64_t number = state->cfa_register;
  int64_t offset = state->cfa_offset;

  switch (operation)
    {
    case DW_CFA_DEF_CFA:
      if (!cursor_uleb128 (&self->at, &number) || !take_plain_offset (self, &offset))
        return false;
      break;
    case DW_CFA_DEF_CFA_SF:
      if (!cursor_uleb128 (&self->at, &number) || !take_signed_offset (self, &offset))
        return false;
      break;
    case DW_CFA_DEF_CFA_REGISTER:
      if (!cursor_uleb128 (&self->at, &number))
        return false;
      break;
    case DW_CFA_DEF_CFA_OFFSET:
      if (!take_plain_offset (self, &offset))
        return false;
      break;
    case DW_CFA_DEF_CFA_OFFSET_SF:
      if (!take_signed_offset (self, &offset))
        return false;
      break;
    default: /* DW_CFA_DEF_CFA_EXPRESSION */
      state->cfa = CFA_EXPRESSION;
      return take_expression (self, &state->cfa_expression);
    }

  define_cfa (self, number, offset);
  return true;
}

static bool
run_other_instruction (Program *self, uint8_t operation)
{
  uint64_t ignored;

  switch (operation)
    {
    case DW_CFA_NOP:
    case DW_CFA_NEGATE_RA_STATE:
      return true;
    case DW_CFA_GNU_ARGS_SIZE:
      return cursor_uleb128 (&self->at, &ignored);
    case DW_CFA_REMEMBER_STATE:
      if (self->n_remembered == MOST_REMEMBERED)
        return false;
      self->remembered[self->n_remembered++] = self->state;
      return true;
    case DW_CFA_RESTORE_STATE:
      if (self->n_remembered == 0)
        return false;
      self->state = self->remembered[--self->n_remembered];
      return true;
    case DW_CFA_DEF_CFA:
    case DW_CFA_DEF_CFA_SF:
    case DW_CFA_DEF_CFA_REGISTER:
    case DW_CFA_DEF_CFA_OFFSET:
    case DW_CFA_DEF_CFA_OFFSET_SF:
    case DW_CFA_DEF_CFA_EXPRESSION:
      return run_cfa_instruction (self, operation);
    default:
      return run_register_instruction (self, operation);
    }
}

/* How far the location advances. FALSE if `operation` is of another kind, or is truncated (then
 * `*is_cut`). */
static bool
take_advance (Program *self, uint8_t operation, uint64_t location, uint64_t *to, bool *is_cut)
{
  uint64_t delta;

  *is_cut = false;
  if ((operation & 0xc0) == DW_CFA_ADVANCE_LOC)
    {
      delta = operation & 0x3f;
    }
  else if (operation >= DW_CFA_ADVANCE_LOC1 && operation <= DW_CFA_ADVANCE_LOC4)
    {
      unsigned size = 1u << (operation - DW_CFA_ADVANCE_LOC1);

      if (!cursor_fixed (&self->at, size, &delta))
        goto cut;
    }
  else if (operation == DW_CFA_SET_LOC)
    {
      if (!sysprof_cfi_take_address (self->cfi, &self->at, self->common->encoding, to) ||
          *to < location)
        goto cut;
      return true;
    }
  else
    {
      return false;
    }

  if (!__builtin_mul_overflow (delta, self->common->code_align, &delta) &&
      !__builtin_add_overflow (location, delta, to))
    return true;

cut:
  *is_cut = true;
  return false;
}

/* Runs an instruction that does not advance. */
static bool
run_instruction (Program *self, uint8_t operation)
{
  Where where = { .kind = WHERE_AT_CFA };

  switch (operation & 0xc0)
    {
    case DW_CFA_OFFSET:
      if (!take_offset (self, &where.offset))
        return false;
      set_where (self, operation & 0x3f, where);
      return true;
    case DW_CFA_RESTORE:
      restore (self, operation & 0x3f);
      return true;
    default:
      return run_other_instruction (self, operation);
    }
}

bool
sysprof_cfi_run_initial (const Cfi *self, CfiCommon *common, Cursor instructions)
{
  Program program;
  uint8_t operation;

  program.cfi = self;
  program.common = common;
  program.at = instructions;
  program.state = (CfiState){ 0 };
  program.n_remembered = 0;

  while (cursor_u8 (&program.at, &operation))
    if (!run_instruction (&program, operation))
      return false;

  /* arm64 implies that the return address is in the link register; on x86-64 its position is
   * always given. */
  common->initial = program.state;
  return true;
}

bool
sysprof_cfi_run (const Cfi *self,
                 const CfiFunction *function,
                 uint64_t end,
                 CfiRow row,
                 void *data)
{
  const CfiCommon *common = &self->common[function->common];
  const uint8_t *begin = self->bytes + function->program;
  uint64_t location = function->start, to;
  Program program;
  CfiRuleKind kind = { self->is_arm64, common->is_signal, self->wants_bx };
  uint8_t operation;
  bool is_cut = false;

  program.cfi = self;
  program.common = common;
  program.at = (Cursor){ begin, begin + function->program_size };
  program.state = common->initial;
  program.n_remembered = 0;

  while (cursor_u8 (&program.at, &operation))
    {
      if (take_advance (&program, operation, location, &to, &is_cut))
        {
          if (to == location)
            continue;
          row (data, location, sysprof_cfi_rule (&program.state, kind));
          if (to >= end)
            return true;
          location = to;
        }
      else if (is_cut || !run_instruction (&program, operation))
        {
          row (data, location, RULE_ESCAPE);
          return false;
        }
    }

  row (data, location, sysprof_cfi_rule (&program.state, kind));
  return true;
}
