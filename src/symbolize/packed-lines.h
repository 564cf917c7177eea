// SPDX-License-Identifier: GPL-3.0-or-later

/* `__lines__`: lines and inlined functions as captures carry them (docs/format.md). */

#pragma once

#include "symbolize/lines.h"

/* Writes what was found for the offsets of a file. */
void sysprof_packed_lines_add (GString *text, const FileBatch *batch, const ElfLines *lines);

/* Takes what the capture brings. */
void sysprof_packed_lines_use (Symbolization *self);
