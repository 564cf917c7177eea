// SPDX-License-Identifier: GPL-3.0-or-later

/* What can be known of code without rules. */

#pragma once

#include "unwind/cfi.h"

/* *Owned* by one thread; the image is borrowed. */
typedef struct
{
  ElfImage *image;
} GapReader;

/* Adds rows for what is recognized in the range, which begins with RULE_NONE. TRUE if there were any. */
bool
sysprof_gap_reader_read (GapReader *self, uint64_t start, uint64_t end, CfiRow row, void *data);
