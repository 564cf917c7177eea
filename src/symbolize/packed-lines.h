// SPDX-License-Identifier: GPL-3.0-or-later

/* `__lines__`: lines and inlined functions as stored in captures (docs/format.md). */

#pragma once

#include "symbolize/lines.h"

/* Writes the answers for the offsets of a file. */
void sysprof_packed_lines_add (GString *text, const FileBatch *batch, const ElfAnswers *lines);

/* Adds the lines that the capture contains. */
void sysprof_packed_lines_use (Symbolization *self);
