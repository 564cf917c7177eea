// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "unwind/unwind.h"

typedef enum
{
  BUILD_ALL,
  BUILD_FRAMES, /* call-frame information and code patterns; no instructions are read */
  BUILD_CODE,   /* only the code, as if the file had nothing else */
} BuildSources;

/* Builds the table from some of the sources, to measure the value of reading instructions on
 * files whose rules are known. */
ElfStatus sysprof_unwind_table_build_from (ElfImage *image,
                                           ElfImage *debug_image,
                                           BuildSources sources,
                                           UnwindTable *table);
