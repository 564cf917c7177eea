// SPDX-License-Identifier: GPL-3.0-or-later

/* Tries the paths where a debug file or a further part of debug information may be, until one
 * of them fits. */

#pragma once

#include "symbolize/elf-parser.h"

/* Opens `path` below `root` and passes it to the parser. */
typedef ElfStatus (*TryPartFunc) (ElfParser *parser, int root, const char *path, void *data);

/* Combines the results of two tries: ELF_OK, ELF_TOO_LARGE, ELF_SKIPPED and ELF_GIVEN_UP of
 * either; else ELF_MISMATCH of either; else ELF_ABSENT. */
ElfStatus sysprof_debug_search_join (ElfStatus before, ElfStatus status);

/* `candidates`: GArray of DebugCandidate. */
ElfStatus sysprof_debug_search_candidates (ElfParser *parser,
                                           const GArray *candidates,
                                           TryPartFunc try_part,
                                           void *data);
/* Tries the paths where the file's processes, which have exited, saw `path`. */
ElfStatus sysprof_debug_search_translations (const Symbolization *self,
                                             ElfParser *parser,
                                             const FileBatch *batch,
                                             const char *path,
                                             TryPartFunc try_part,
                                             void *data);
/* Likewise, for all paths of `candidates`. */
ElfStatus sysprof_debug_search_all_translations (const Symbolization *self,
                                                 ElfParser *parser,
                                                 const FileBatch *batch,
                                                 const GArray *candidates,
                                                 TryPartFunc try_part,
                                                 void *data);
