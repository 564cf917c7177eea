// SPDX-License-Identifier: GPL-3.0-or-later

/* Where the separate debug file of an ELF file may be on this machine. */

#pragma once

#include "symbolize/elf-worker.h"
#include "symbolize/symbolizer.h"
#include "util/util.h"

/* Where a debug file of `path` may be. */
typedef struct
{
  int root; /* borrowed */
  char *path;
} DebugCandidate;

/* GArray of DebugCandidate, the likeliest first. */
GArray *sysprof_list_debug_candidates (const Symbolization *symbolization,
                                       Opener *opener,
                                       int root,
                                       const char *path,
                                       const ElfFacts *facts);
