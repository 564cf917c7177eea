// SPDX-License-Identifier: GPL-3.0-or-later

/* Lines of a source file. *Owned* by one thread. */

#pragma once

#include "util/util.h"

typedef struct
{
  GPtrArray *lines; /* char *, borrowed from the text */
} SourceLines;

/* Borrows `text` [size], which must have a NUL after it, and replaces line ends by NUL. NULL
 * = no lines. */
void sysprof_source_lines_init (SourceLines *self, char *text, size_t size);
void sysprof_source_lines_clear (SourceLines *self);

/* Whether a line with this text is not part of the function that begins in line `begin`, or is
 * its last one, by its indentation. */
bool
sysprof_source_line_ends_function (const SourceLines *self, uint32_t begin, const char *text);

/* Returns line `line`, counted from 1; NULL if the file has no such line. Any bytes. */
const char *sysprof_source_lines_get (const SourceLines *self, uint32_t line);
