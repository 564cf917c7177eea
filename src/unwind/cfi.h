// SPDX-License-Identifier: GPL-3.0-or-later

/* Call-frame information: the functions that a section describes, and the unwind rules of each.
 *
 * Source: DWARF 5, 6.4; LSB 5.0 core, 10.6 (differences of .eh_frame); the psABI of each
 * machine (register numbers). */

#pragma once

#include "elf/elf.h"

/* A function: one entry (FDE). */
typedef struct
{
  uint64_t start; /* link-time address */
  uint64_t end;
  uint32_t program; /* offset of its instructions in the section */
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
  bool wants_bx; /* set before functions are run: rules include RBX if possible */

  CfiCommon *common; /* [n_common], ascending by offset */
  size_t n_common;
  size_t common_capacity;
  CfiFunction *function; /* [n_functions], ascending by start */
  size_t n_functions;
  size_t function_capacity;
  size_t n_refused; /* invalid or unsupported entries */
} Cfi;

/* Reads all headers. `machine` is EM_X86_64 or EM_AARCH64. */
ElfStatus
sysprof_cfi_open (Cfi *self, const ElfFrames *frames, uint16_t machine, bool is_debug);
void sysprof_cfi_clear (Cfi *self);

/* `rule` (RULE_MAKE) applies from `address` up to the next row. */
typedef void (*CfiRow) (void *data, uint64_t address, uint32_t rule);

/* Calls back with the rows of a function: ascending, the first at its start, all before `end`.
 * FALSE if its instructions are truncated or invalid: earlier rows are valid, and are followed
 * by a RULE_ESCAPE. */
bool sysprof_cfi_run (const Cfi *self,
                      const CfiFunction *function,
                      uint64_t end,
                      CfiRow row,
                      void *data);
