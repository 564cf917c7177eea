// SPDX-License-Identifier: GPL-3.0-or-later

/* A child without rights that reads the code of functions from a jitdump, which anybody may have written, as instructions. *Owned*
 * by one thread. */

#pragma once

#include "jit/jit.h"
#include "symbolize/elf-worker.h"

/* A function as the capture has it (docs/format.md, /proc/PID/jit-code). */
typedef struct
{
  uint64_t start;
  uint64_t size;
  uint64_t time;
} JitFunction;

/* Of which line of a program's own source an instruction was made. */
typedef struct
{
  uint32_t file; /* offset into ElfInstructions.text; 0 = unknown */
  uint32_t line;
} JitPlace;

/* *Owned*. Offsets of instructions are addresses; their range is the number of the function. */
typedef struct
{
  ElfInstructions code;
  JitPlace *place; /* [code.n] */
} JitInstructions;

void sysprof_jit_instructions_clear (JitInstructions *self);

typedef enum
{
  JIT_CODE_OK, /* of functions that the dump does not have there is nothing */
  JIT_CODE_NOT_A_DUMP,
  JIT_CODE_UNKNOWN_MACHINE, /* nobody here knows such instructions */
  JIT_CODE_FAILED,          /* it cannot be read, or reading it took too long */
} JitCodeStatus;

/* The disassembler is to be loaded before (disasm/disasm.h). The envelope (util/opener.h) is borrowed; the file has `size` bytes. */
JitCodeStatus sysprof_jit_sandbox_disassemble (ConfinedChild *child,
                                               int envelope,
                                               uint64_t size,
                                               const JitFunction *functions,
                                               uint32_t n,
                                               JitInstructions *instructions);
