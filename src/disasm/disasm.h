// SPDX-License-Identifier: GPL-3.0-or-later

/* disasm: translates untrusted machine code into text. Plain C.
 *
 *   if (sysprof_disasm_load (&problem))   // before fork() and giving up privileges
 *     {
 *       Disassembler *disassembler = sysprof_disassembler_new (&code);
 *       DisasmInstruction instruction;
 *
 *       while (sysprof_disassembler_next (disassembler, &instruction))
 *         …
 *       sysprof_disassembler_free (disassembler);
 *     }
 *
 * The library capstone decodes the instructions. It is loaded when it is first needed. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISASM_MAX_SIZE 16 /* bytes of an instruction */

typedef struct
{
  uint64_t address;
  uint64_t target; /* of a jump or call whose only operand is an address; 0 = none */
  uint8_t size;
  uint8_t bytes[DISASM_MAX_SIZE]; /* [size] */
  char text[208]; /* mnemonic and operands; ".byte 0x06" for an unknown instruction */
} DisasmInstruction;

/* The code is borrowed. */
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

/* FALSE with a message: what is missing, and how to install it. */
bool sysprof_disasm_load (const char **problem);

/* NULL if the library does not know the machine or was not loaded. *Owned* by one thread. */
Disassembler *sysprof_disassembler_new (const DisasmCode *code);
/* FALSE at the end. The instructions cover each byte of the code once. */
bool sysprof_disassembler_next (Disassembler *self, DisasmInstruction *instruction);
void sysprof_disassembler_free (Disassembler *self);
