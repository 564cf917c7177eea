// SPDX-License-Identifier: GPL-3.0-or-later

/* A child without privileges that disassembles functions from a jitdump, which is an untrusted
 * file. *Owned* by one thread. */

#pragma once

#include "inspect/elf-worker.h"
#include "jit/jit.h"

/* A function as recorded in the capture (docs/format.md, /proc/PID/jit-code). */
typedef struct
{
  uint64_t start;
  uint64_t size;
  uint64_t time;
} JitFunction;

/* The source line that an instruction was generated from. */
typedef struct
{
  uint32_t file; /* offset into ElfAnswers.text; 0 = unknown */
  uint32_t line;
} JitPlace;

/* *Owned*. Offsets of instructions are addresses; their range is the index of the function. */
typedef struct
{
  ElfAnswers code;
  JitPlace *place; /* [code.n] */
} JitInstructions;

void sysprof_jit_instructions_clear (JitInstructions *self);

typedef enum
{
  JIT_CODE_OK, /* functions that are not in the dump have no instructions */
  JIT_CODE_NOT_A_DUMP,
  JIT_CODE_UNKNOWN_MACHINE, /* the instruction set is not supported */
  JIT_CODE_FAILED,          /* the dump cannot be read, or reading it took too long */
} JitCodeStatus;

/* The caller loads the disassembler first (disasm/disasm.h). The envelope
 * (util/children/envelope.h) is borrowed; the file has `size` bytes. */
JitCodeStatus sysprof_jit_sandbox_disassemble (ConfinedChild *child,
                                               int envelope,
                                               uint64_t size,
                                               const JitFunction *functions,
                                               uint32_t n,
                                               JitInstructions *instructions);
