// SPDX-License-Identifier: GPL-3.0-or-later

/* Shared by the reader of headers (cfi.c) and the interpreter of call-frame instructions. */

#pragma once

#include "unwind/cfi-rule.h"
#include "unwind/cfi.h"

/* A CIE: what its functions have in common. */
struct CfiCommon
{
  uint32_t offset; /* of its length field in the section */
  bool is_sound;
  bool has_size; /* functions have augmentation data, which begins with its size */
  bool is_signal;
  uint8_t encoding;
  const CfiMachine *machine;
  uint64_t code_align;
  int64_t data_align;
  CfiState initial; /* the state at the start of a function */
};

bool
sysprof_cfi_take_address (const Cfi *self, Cursor *cursor, uint8_t encoding, uint64_t *address);

/* Runs the instructions of a CIE and stores the result in common->initial. */
bool sysprof_cfi_run_initial (const Cfi *self, CfiCommon *common, Cursor instructions);
