// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces capstone.c in builds without capstone. */

#include "disasm/disasm.h"

bool
sysprof_disasm_load (const char **problem)
{
  *problem =
      "this program was built without a disassembler. Install capstone with its headers, "
      "Debian's package libcapstone-dev, and build it again.";
  return false;
}

Disassembler *
sysprof_disassembler_new (const DisasmCode *code)
{
  return NULL;
}

bool
sysprof_disassembler_next (Disassembler *self, DisasmInstruction *instruction)
{
  return false;
}

void
sysprof_disassembler_free (Disassembler *self)
{
}
