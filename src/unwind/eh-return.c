// SPDX-License-Identifier: GPL-3.0-or-later

/* Recognizes how libgcc transfers control to an exception handler. _Unwind_RaiseException() and
 * similar functions have found the frame with the handler. They call a function that replaces
 * the registers that they have saved in their own frame, including the return address, by those
 * of the handler's frame. Then they leave as if that frame had called them:
 *
 *           lea   -n(%rbp), %rbx        the context of the handler's frame
 *           …
 *           mov   %rbx, %rsi
 *           mov   %r15, %rdi            the context of this frame, which is on the stack, too
 *           call  uw_install_context_1
 *           …                           from here on: EH_RETURN_CONTEXT
 *           mov   (%rbp), %rbp
 *           mov   %rcx, %rsp            EH_RETURN_SLOT
 *           pop   %rcx                  EH_RETURN_TOP
 *           jmp   *%rcx                 EH_RETURN_JUMP
 *
 * The rules of the last three instructions are recognized by their form, which no other code
 * has. After the call, the compiler's rules describe a frame that already belongs to another
 * function. */

#include "unwind/eh-return.h"

#include "bpf/bpf.h"
#include "unwind/x86.h"

#include <stdlib.h>

#define MOST_FUNCTION 8192 /* bytes; real ones have less than a thousand */

/* Numbers of registers in instructions. */
#define BX          3u
#define SI          6u
#define DI          7u
#define R12         12u
#define N_REGISTERS 16u

#define REX_R          4u
#define REX_B          1u
#define IS_REX_W(byte) (((byte) &0xf8) == 0x48)

/* The registers that point into the frame: the distance below RBP, 0 = unknown. */
typedef struct
{
  uint32_t below[N_REGISTERS];
} Pointers;

/* Callee-saved registers are loaded from memory only in the exit code, so other code follows
 * after such a load. */
static bool
is_kept (unsigned number)
{
  return number == BX || number >= R12;
}

/* Tracks lea -n(%rbp), register; mov register, register; and other writes to a register. */
static void
follow_pointers (Pointers *self, const uint8_t *code, unsigned length)
{
  uint8_t rex = code[0], opcode = code[1], modrm = code[2];
  unsigned reg, rm;
  int32_t displacement;

  if (length < 3 || !IS_REX_W (rex) || (opcode != 0x8d && opcode != 0x8b && opcode != 0x89))
    return;

  reg = (modrm >> 3 & 7u) | (rex & REX_R ? 8u : 0u);
  rm = (modrm & 7u) | (rex & REX_B ? 8u : 0u);
  if (opcode == 0x8d && rm == X86_BP && (modrm >> 6 == 1 || modrm >> 6 == 2))
    {
      displacement = (int8_t) code[3];
      if (modrm >> 6 == 2)
        displacement = (int32_t) ((uint32_t) code[3] | (uint32_t) code[4] << 8 |
                                  (uint32_t) code[5] << 16 | (uint32_t) code[6] << 24);
      self->below[reg] =
          displacement < 0 && displacement >= -(int32_t) RULE_EH_RETURN_MOST_OFFSET
              ? (uint32_t) -displacement
              : 0;
    }
  else if (opcode == 0x89 && modrm >> 6 == 3)
    self->below[rm] = self->below[reg];
  else if (opcode == 0x8b && modrm >> 6 == 3)
    self->below[reg] = self->below[rm];
  else if (opcode == 0x8d || (opcode == 0x8b && !is_kept (reg)))
    self->below[reg] = 0;
}

/* The last call before `end` with two such pointers: its return address, and the second
 * pointer. */
static bool
find_installation (const uint8_t *code,
                   uint64_t start,
                   uint64_t end,
                   uint64_t *behind,
                   uint32_t *below)
{
  Pointers pointers = { 0 };
  X86Instruction instruction;
  bool is_found = false;

  for (uint64_t at = 0; at < end - start; at += instruction.length)
    {
      if (!sysprof_x86_decode (code + at, end - start - at, start + at, &instruction))
        return false;
      follow_pointers (&pointers, code + at, instruction.length);
      if (instruction.kind != X86_CALL)
        continue;
      if (pointers.below[DI] != 0 && pointers.below[SI] != 0 && instruction.target != 0)
        {
          *behind = start + at + instruction.length;
          *below = pointers.below[SI];
          is_found = *below % 8 == 0;
        }
      pointers.below[DI] = pointers.below[SI] = 0;
    }
  return is_found;
}

bool
sysprof_eh_return_is_exit (const EhReturnRow row[3])
{
  uint32_t number = RULE_REG_NUMBER (row[0].rule);

  return row[0].rule == RULE_MAKE (RULE_REG, RULE_REG_FIELD (number, 8), SLOT_UNCHANGED) &&
         row[1].rule == RULE_MAKE (RULE_SP, 8, SLOT_UNCHANGED) &&
         row[2].rule == RULE_MAKE (RULE_RA, RULE_REG_FIELD (number, 0), SLOT_UNCHANGED);
}

/* Makes the four rows. Their end is after the jump, which has `size` bytes. */
static EhReturn
make_eh_return (uint64_t start,
                const EhReturnRow exit[3],
                uint64_t size,
                uint64_t behind,
                uint32_t below)
{
  uint32_t number = RULE_REG_NUMBER (exit[0].rule);

  return (EhReturn){
    .function = start,
    .end = exit[2].address + size,
    .row = {
      /* From the last byte of the call on, at which its return address is looked up. */
      { behind - 1, RULE_MAKE_EH_RETURN (EH_RETURN_CONTEXT, 0, below) },
      { exit[0].address, RULE_MAKE_EH_RETURN (EH_RETURN_SLOT, number, 0) },
      { exit[1].address, RULE_MAKE_EH_RETURN (EH_RETURN_TOP, 0, 0) },
      { exit[2].address, RULE_MAKE_EH_RETURN (EH_RETURN_JUMP, number, 0) },
    },
  };
}

bool
sysprof_eh_return_find (ElfImage *image,
                        uint64_t start,
                        uint64_t end,
                        const EhReturnRow exit[3],
                        EhReturn *found)
{
  uint64_t behind = 0, jump = exit[2].address;
  X86Instruction instruction;
  uint32_t below = 0;
  uint8_t *code;
  bool is_found;

  if (exit[0].address <= start || exit[0].address >= exit[1].address ||
      exit[1].address >= jump || jump >= end || end - start > MOST_FUNCTION ||
      sysprof_elf_image_read_code (image, start, end, &code) != ELF_OK)
    return false;

  is_found = find_installation (code, start, exit[0].address, &behind, &below) &&
             sysprof_x86_decode (code + (jump - start), end - jump, jump, &instruction) &&
             instruction.kind == X86_JUMP;
  free (code);
  if (is_found)
    *found = make_eh_return (start, exit, instruction.length, behind, below);
  return is_found;
}
