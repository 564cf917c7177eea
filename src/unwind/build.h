// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "unwind/unwind.h"

typedef enum
{
  BUILD_ALL,
  BUILD_FRAMES, /* call-frame information, and what is known without; no instructions are read */
  BUILD_CODE,   /* as if a file had nothing but its code */
} BuildSources;

/* The table of a file from a part of what it has: what reading instructions is worth can be measured on files whose rules are
 * known. */
ElfStatus sysprof_unwind_table_build_from (ElfImage *image,
                                           ElfImage *debug_image,
                                           BuildSources sources,
                                           UnwindTable *table);
