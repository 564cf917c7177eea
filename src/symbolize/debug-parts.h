// SPDX-License-Identifier: GPL-3.0-or-later

/* What belongs to the debug information of an open file and lies in further files: the supplement that dwz made. */

#pragma once

#include "symbolize/elf-parser.h"
#include "symbolize/lines.h"

/* Looks for the supplement of what is open in the parser, once, and has it read as well. Where it cannot be had that is noted. */
void sysprof_debug_parts_add_supplement (const Symbolization *self,
                                         ElfParser *parser,
                                         const FileBatch *batch);
