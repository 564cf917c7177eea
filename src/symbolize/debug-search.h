// SPDX-License-Identifier: GPL-3.0-or-later

/* One place after the other where a debug file, or a further part of debug information, may be, until one is it. */

#pragma once

#include "symbolize/elf-parser.h"

/* Opens what is at `path` below `root` and hands it to the parser. */
typedef ElfStatus (*TryPartFunc) (ElfParser *parser, int root, const char *path, void *data);

/* What two places together say: ELF_OK, ELF_TOO_LARGE, ELF_SKIPPED and ELF_GIVEN_UP of either, else ELF_MISMATCH of either, else ELF_ABSENT. */
ElfStatus sysprof_debug_search_join (ElfStatus before, ElfStatus status);

/* `candidates`: of DebugCandidate. */
ElfStatus sysprof_debug_search_candidates (ElfParser *parser,
                                           const GArray *candidates,
                                           TryPartFunc try_part,
                                           void *data);
/* Where the file's processes, which are gone, saw `path`. */
ElfStatus sysprof_debug_search_translations (const Symbolization *self,
                                             ElfParser *parser,
                                             const FileBatch *batch,
                                             const char *path,
                                             TryPartFunc try_part,
                                             void *data);
/* The same of all the paths of `candidates`. */
ElfStatus sysprof_debug_search_all_translations (const Symbolization *self,
                                                 ElfParser *parser,
                                                 const FileBatch *batch,
                                                 const GArray *candidates,
                                                 TryPartFunc try_part,
                                                 void *data);
