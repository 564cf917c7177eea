// SPDX-License-Identifier: GPL-3.0-or-later

/* Call-frame information: which functions a section describes, and each function's rules in the order of its bytes.
 *
 * Source: DWARF 5, 6.4; LSB 5.0 core, 10.6 (what .eh_frame changes); the psABI of each machine (register numbers). */

#pragma once

#include "elf/elf.h"

/* A function: one entry (FDE). */
typedef struct
{
  uint64_t start; /* link-time address */
  uint64_t end;
  uint32_t program; /* where its instructions are in the section */
  uint32_t program_size;
  uint32_t common; /* index of its CIE */
} CfiFunction;

typedef struct CfiCommon CfiCommon;

/* *Owned* by one thread; `bytes` are borrowed. */
typedef struct
{
  const uint8_t *bytes; /* [size] */
  size_t size;
  uint64_t address;
  bool is_debug; /* .debug_frame */
  bool is_arm64;
  bool wants_bx; /* set before functions are run: their rules say where RBX is, if they can */

  CfiCommon *common; /* [n_common], ascending by place */
  size_t n_common;
  size_t common_capacity;
  CfiFunction *function; /* [n_functions], ascending by start */
  size_t n_functions;
  size_t function_capacity;
  size_t n_refused; /* entries that say nothing that can be used */
} Cfi;

/* Reads all headers. `machine` is EM_X86_64 or EM_AARCH64. */
ElfStatus
sysprof_cfi_open (Cfi *self, const ElfFrames *frames, uint16_t machine, bool is_debug);
void sysprof_cfi_clear (Cfi *self);

/* `rule` (RULE_MAKE) is in force from `address` to the next row's. */
typedef void (*CfiRow) (void *data, uint64_t address, uint32_t rule);

/* The rows of a function, ascending, the first at its start, all of them before `end`. FALSE where its instructions
 * break off or make no sense: the rows until there hold, and a RULE_ESCAPE stands behind them. */
bool sysprof_cfi_run (const Cfi *self,
                      const CfiFunction *function,
                      uint64_t end,
                      CfiRow row,
                      void *data);
