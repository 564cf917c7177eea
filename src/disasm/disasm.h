// SPDX-License-Identifier: GPL-3.0-or-later

/* disasm: turns machine code into text, from bytes nobody vouches for. Plain C.
 *
 *   if (sysprof_disasm_load (&problem))   // before a fork() that gives up its rights
 *     {
 *       Disassembler *disassembler = sysprof_disassembler_new (&code);
 *       DisasmInstruction instruction;
 *
 *       while (sysprof_disassembler_next (disassembler, &instruction))
 *         …
 *       sysprof_disassembler_free (disassembler);
 *     }
 *
 * What knows the instructions is the library capstone, which is loaded once it is needed. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISASM_MAX_SIZE 16 /* bytes of an instruction */

typedef struct
{
  uint64_t address;
  uint64_t target; /* of a jump or call whose operand is that address alone; 0 = none */
  uint8_t size;
  uint8_t bytes[DISASM_MAX_SIZE]; /* [size] */
  char text[208]; /* mnemonic and operands; ".byte 0x06" where it is no known instruction */
} DisasmInstruction;

/* Borrowed. */
typedef struct
{
  uint16_t machine; /* EM_…, of <elf.h> */
  bool is_64;
  bool is_big_endian;
  uint64_t address; /* of the first byte */
  const uint8_t *bytes;
  size_t size;
} DisasmCode;

typedef struct Disassembler Disassembler;

/* FALSE with a sentence: what is missing, and what helps. */
bool sysprof_disasm_load (const char **problem);

/* NULL where the library does not know the machine, or was not loaded. *Owned* by one thread. */
Disassembler *sysprof_disassembler_new (const DisasmCode *code);
/* FALSE at the end. Each byte is in one instruction, each instruction within the code. */
bool sysprof_disassembler_next (Disassembler *self, DisasmInstruction *instruction);
void sysprof_disassembler_free (Disassembler *self);
