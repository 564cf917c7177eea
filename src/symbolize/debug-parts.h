// SPDX-License-Identifier: GPL-3.0-or-later

/* What belongs to the debug information of an open file and lies in further files: the supplement that dwz made, and split
 * units. */

#pragma once

#include "symbolize/elf-parser.h"
#include "symbolize/lines.h"

/* Asks what is open in the parser for lines and inlined functions of the batch, with all that belongs to it. By link-time `addresses`, or NULL: offsets. What
 * cannot be had is noted. FALSE where
 * it answers nothing. */
bool sysprof_debug_parts_resolve_lines (const Symbolization *self,
                                        ElfParser *parser,
                                        const FileBatch *batch,
                                        const uint64_t *addresses,
                                        ElfLines *lines);
