// SPDX-License-Identifier: GPL-3.0-or-later

/* The parts of an open file's debug information that are in other files: the supplement that
 * dwz made, and split units. */

#pragma once

#include "symbolize/elf-search.h"
#include "symbolize/lines.h"

/* Resolves lines and inlined functions of the batch with the file that is open in the parser
 * and all its parts. The keys are link-time `addresses`, or offsets if NULL. Missing parts are
 * noted. Returns FALSE if the file gives no answer. */
bool sysprof_debug_parts_resolve_lines (ElfSearch *self,
                                        const FileBatch *batch,
                                        const uint64_t *addresses,
                                        ElfAnswers *lines);
