// SPDX-License-Identifier: GPL-3.0-or-later

/* What the header reader and the interpreter of call-frame instructions share. */

#pragma once

#include "unwind/cfi-rule.h"
#include "unwind/cfi.h"

/* A CIE: what functions have in common. */
struct CfiCommon
{
  uint32_t place; /* of its length in the section */
  bool is_sound;
  bool has_size; /* functions have augmentation data, with its size in front */
  bool is_signal;
  uint8_t encoding;
  const CfiMachine *machine;
  uint64_t code_align;
  int64_t data_align;
  CfiState initial; /* what a function begins with */
};

bool
sysprof_cfi_take_address (const Cfi *self, Cursor *cursor, uint8_t encoding, uint64_t *address);

/* Runs the instructions of a CIE, which leave common->initial. */
bool sysprof_cfi_run_initial (const Cfi *self, CfiCommon *common, Cursor instructions);
