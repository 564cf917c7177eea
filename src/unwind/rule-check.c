// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares the unwind rules at the start of a function with its first instructions. */

#include "unwind/rule-check.h"

#include "bpf/bpf.h"
#include "unwind/x86.h"

#include <stdlib.h>

#define MOST_FIRST_INSTRUCTION 4                      /* bytes */
#define PIECE                  (UINT64_C (256) << 10) /* bytes read at once */
#define BEGINNING              16                     /* bytes that are compared */

void
sysprof_rule_check_add (RuleCheck *self, uint64_t address, uint32_t rule)
{
  if (self->n < RULE_CHECK_ROWS)
    self->first[self->n++] = (FirstRow){ address, rule };
}

static uint32_t
first_rule_at (const RuleCheck *self, uint64_t address)
{
  uint32_t rule = RULE_NONE;

  for (size_t i = 0; i < self->n && self->first[i].address <= address; i++)
    rule = self->first[i].rule;
  return rule;
}

/* The amount that an instruction adds to the distance from SP to the CFA. FALSE: unknown, or
 * the function continues elsewhere. */
static bool
follow_sp (const X86Instruction *instruction, uint64_t *offset)
{
  switch (instruction->kind)
    {
    case X86_PUSH:
      *offset += 8;
      return true;
    case X86_POP:
      *offset -= 8;
      return true;
    case X86_ADD_SP:
      *offset -= (uint64_t) instruction->value;
      return true;
    case X86_OTHER:
    case X86_PADDING:
    case X86_CODE_ADDRESS:
    case X86_BP_FROM_SP:
    case X86_SPOIL_BP:
    case X86_ZERO_BP:
    case X86_STORE_BP:
    case X86_LOAD_BP:
      return true;
    default:
      return false;
    }
}

/* The bytes at [start, start + size), from a cached piece. NULL: they cannot be read. */
static const uint8_t *
read_beginning (RuleCheck *self, ElfImage *image, uint64_t start, uint64_t size)
{
  if (start < self->piece_start || start + size > self->piece_end)
    {
      free (self->piece);
      self->piece = NULL;
      self->piece_start = start;
      self->piece_end = start + PIECE < self->text_end ? start + PIECE : self->text_end;
      if (sysprof_elf_image_read_code (image, start, self->piece_end, &self->piece) != ELF_OK)
        self->piece = NULL;
    }
  return self->piece != NULL ? self->piece + (start - self->piece_start) : NULL;
}

bool
sysprof_rule_check_contradicts (RuleCheck *self, ElfImage *image, uint64_t start, uint64_t end)
{
  uint64_t size = end - start < BEGINNING ? end - start : BEGINNING;
  uint32_t rule = first_rule_at (self, start);
  uint64_t offset = RULE_OFFSET (rule);
  const uint8_t *code;
  X86Instruction instruction;

  if (RULE_KIND (rule) != RULE_SP || self->n == RULE_CHECK_ROWS ||
      (self->n > 1 && self->first[1].address - start <= MOST_FIRST_INSTRUCTION))
    return false;
  code = read_beginning (self, image, start, size);
  if (code == NULL)
    return false;

  for (size_t at = 0; at < size &&
                      sysprof_x86_decode (code + at, size - at, start + at, &instruction) &&
                      follow_sp (&instruction, &offset);)
    {
      at += instruction.length;
      rule = first_rule_at (self, start + at);
      if (at >= size || RULE_KIND (rule) != RULE_SP)
        return false;
      if (instruction.kind == X86_PADDING)
        /* before a jump target: this instruction is not reached from above */
        offset = RULE_OFFSET (rule);
      if (RULE_OFFSET (rule) != offset)
        return true;
    }
  return false;
}

void
sysprof_rule_check_clear (RuleCheck *self)
{
  free (self->piece);
  *self = (RuleCheck){ 0 };
}
