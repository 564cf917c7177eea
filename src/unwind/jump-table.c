// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the jump table of a switch on x86-64. Compilers write it like this:
 *
 *   cmp    $18, %dl
 *   ja     …
 *   lea    table(%rip), %rsi       or long before
 *   movzbl %dl, %edx
 *   movslq (%rsi,%rdx,4), %rdx
 *   add    %rsi, %rdx
 *   jmp    *%rdx
 *
 * or, in code that is not position-independent, jmp *table(,%rdx,8). Only the comparison gives
 * the length of the table. Without it, the table is ignored. */

#include "unwind/jump-table.h"

#include "unwind/x86.h"

#include <string.h>

#define MOST_BEFORE   24   /* instructions that are examined */
#define MOST_FLAGS    6    /* between a comparison and its branch */
#define MOST_LEA_AWAY 8192 /* bytes */
#define MOST_LENGTH   15   /* bytes of an instruction */
#define NO_REGISTER   255u

#define REX_B          1u
#define REX_R          4u
#define IS_REX(byte)   (((byte) &0xf0) == 0x40)
#define IS_REX_W(byte) (((byte) &0xf8) == 0x48)

/* An instruction without irrelevant prefixes. */
typedef struct
{
  const uint8_t *bytes; /* [size] from the opcode */
  size_t size;
  uint8_t rex;
} Plain;

static Plain
plain_at (const JumpCode *self, uint64_t offset, size_t length)
{
  Plain plain = { self->code + offset, length, 0 };

  while (plain.size > 1 && (*plain.bytes == 0x66 || *plain.bytes == 0x3e))
    {
      plain.bytes++;
      plain.size--;
    }
  if (plain.size > 1 && IS_REX (*plain.bytes))
    {
      plain.rex = *plain.bytes++;
      plain.size--;
    }
  return plain;
}

static unsigned
reg_of (const Plain *plain, uint8_t modrm)
{
  return (modrm >> 3 & 7u) | (plain->rex & REX_R ? 8u : 0u);
}

static unsigned
rm_of (const Plain *plain, uint8_t modrm)
{
  return (modrm & 7u) | (plain->rex & REX_B ? 8u : 0u);
}

static uint32_t
word_at (const uint8_t *bytes)
{
  return (uint32_t) bytes[0] | (uint32_t) bytes[1] << 8 | (uint32_t) bytes[2] << 16 |
         (uint32_t) bytes[3] << 24;
}

/* The length of the instruction that ends at `offset`; 0 = unknown. */
static size_t
length_before (const JumpCode *self, uint64_t offset)
{
  X86Instruction instruction;

  for (size_t length = 1; length <= MOST_LENGTH && length <= offset; length++)
    if (self->is_begun[offset - length] != 0 &&
        sysprof_x86_decode (self->code + offset - length, length, 0, &instruction) &&
        instruction.length == length)
      return length;
  return 0;
}

/* cmp $bound, something; unsigned. */
static bool
is_comparison (const Plain *plain, uint32_t *bound)
{
  const uint8_t *bytes = plain->bytes;

  if (bytes[0] == 0x3c || ((bytes[0] == 0x80 || bytes[0] == 0x83) && (bytes[1] & 0x38) == 0x38))
    {
      *bound = bytes[plain->size - 1];
      return plain->size >= 2 && (bytes[0] != 0x83 || *bound < 0x80);
    }
  if ((bytes[0] == 0x3d || (bytes[0] == 0x81 && (bytes[1] & 0x38) == 0x38)) && plain->size >= 5)
    {
      *bound = word_at (bytes + plain->size - 4);
      return true;
    }
  return false;
}

/* The bound of the comparison before the branch at `offset`. */
static bool
find_bound (const JumpCode *self, uint64_t offset, uint32_t *bound)
{
  for (unsigned i = 0; i < MOST_FLAGS; i++)
    {
      size_t length = length_before (self, offset);
      Plain plain;

      if (length == 0)
        return false;
      offset -= length;
      plain = plain_at (self, offset, length);
      if (is_comparison (&plain, bound))
        return true;
      /* mov and lea do not change the flags. */
      if ((plain.bytes[0] & 0xfc) != 0x88 && plain.bytes[0] != 0x8d &&
          (plain.bytes[0] & 0xf0) != 0xb0 && (plain.bytes[0] & 0xfe) != 0xc6 &&
          plain.bytes[0] != 0x0f)
        return false;
    }
  return false;
}

static bool
is_above (const Plain *plain)
{
  return plain->bytes[0] == 0x77 ||
         (plain->size > 1 && plain->bytes[0] == 0x0f && plain->bytes[1] == 0x87);
}

/* lea table(%rip), %register */
static bool
is_lea (const JumpCode *self,
        uint64_t offset,
        size_t length,
        unsigned number,
        uint64_t *address)
{
  Plain plain = plain_at (self, offset, length);

  if (!IS_REX_W (plain.rex) || plain.size != 6 || plain.bytes[0] != 0x8d ||
      (plain.bytes[1] & 0xc7) != 0x05 || reg_of (&plain, plain.bytes[1]) != number)
    return false;
  *address =
      self->start + offset + length + (uint64_t) (int64_t) (int32_t) word_at (plain.bytes + 2);
  return true;
}

/* The last one before `offset`. */
static bool
find_lea (const JumpCode *self, uint64_t offset, unsigned number, uint64_t *address)
{
  const size_t length = 7;

  for (unsigned i = 0; i < MOST_LEA_AWAY && offset > 0; i++)
    {
      offset--;
      if (self->is_begun[offset] != 0 && offset + length <= self->size &&
          is_lea (self, offset, length, number, address))
        return true;
    }
  return false;
}

/* movslq (%base,%index,4), %to */
static bool
is_load (const Plain *plain, unsigned to, unsigned *base)
{
  uint8_t modrm, sib;

  if (!IS_REX_W (plain->rex) || plain->size < 3 || plain->bytes[0] != 0x63)
    return false;
  modrm = plain->bytes[1];
  sib = plain->bytes[2];
  if (reg_of (plain, modrm) != to || (modrm & 7) != 4 || sib >> 6 != 2)
    return false;
  *base = (sib & 7u) | (plain->rex & REX_B ? 8u : 0u);
  /* RBP and R13 need a displacement. */
  return (modrm >> 6 == 0 && (sib & 7) != 5) ||
         (modrm >> 6 == 1 && plain->size == 4 && plain->bytes[3] == 0);
}

/* add %base, %to */
static bool
is_addition (const Plain *plain, unsigned to)
{
  if (!IS_REX_W (plain->rex) || plain->size != 2 || plain->bytes[1] >> 6 != 3)
    return false;
  return (plain->bytes[0] == 0x01 && rm_of (plain, plain->bytes[1]) == to) ||
         (plain->bytes[0] == 0x03 && reg_of (plain, plain->bytes[1]) == to);
}

bool
sysprof_jump_table_find (const JumpCode *self, uint64_t offset, JumpTable *table)
{
  X86Instruction jump;
  Plain plain;
  unsigned to, base = NO_REGISTER;
  bool is_added = false, has_address = false;
  uint32_t bound = 0;

  if (!sysprof_x86_decode (self->code + offset, self->size - offset, 0, &jump))
    return false;
  plain = plain_at (self, offset, jump.length);
  if (plain.size < 2 || plain.bytes[0] != 0xff)
    return false;

  *table = (JumpTable){ .is_relative = plain.bytes[1] >> 6 == 3 };
  to = rm_of (&plain, plain.bytes[1]);
  if (!table->is_relative)
    {
      if (plain.bytes[1] != 0x24 || plain.size != 7 || (plain.bytes[2] & 0xc7) != 0xc5)
        return false;
      table->address = word_at (plain.bytes + 3);
      has_address = true;
    }

  for (unsigned i = 0; i < MOST_BEFORE; i++)
    {
      size_t length = length_before (self, offset);

      if (length == 0)
        return false;
      offset -= length;
      plain = plain_at (self, offset, length);
      if (table->is_relative && !is_added)
        {
          is_added = is_addition (&plain, to);
        }
      else if (table->is_relative && base == NO_REGISTER)
        {
          (void) is_load (&plain, to, &base);
        }
      else if (is_above (&plain))
        {
          if (!find_bound (self, offset, &bound) || bound >= JUMP_TABLE_MOST)
            return false;
          table->n = bound + 1;
          return has_address || find_lea (self, offset, base, &table->address);
        }
      else if (!has_address)
        {
          has_address = is_lea (self, offset, length, base, &table->address);
        }
    }
  return false;
}
