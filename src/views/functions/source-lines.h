// SPDX-License-Identifier: GPL-3.0-or-later

/* The text of a source file, line by line. *Owned* by one thread. */

#pragma once

#include "util/util.h"

typedef struct
{
  GPtrArray *lines; /* char *, borrowed from the text */
} SourceLines;

/* `text` [size], NUL behind, is borrowed and changed: its lines end in NUL. NULL: there are none. */
void sysprof_source_lines_init (SourceLines *self, char *text, size_t size);
void sysprof_source_lines_clear (SourceLines *self);

/* From 1; NULL = the file has no such line. Any bytes. */
const char *sysprof_source_lines_get (const SourceLines *self, uint32_t line);
