// SPDX-License-Identifier: GPL-3.0-or-later

/* The text of a source file, line by line. Nobody vouches for where it is said to be: only a regular file of up to 16 MiB is
 * read. *Owned* by one thread. */

#pragma once

#include "util/util.h"

typedef struct
{
  char *text;
  GPtrArray *lines; /* char *, borrowed from `text` */
} SourceLines;

/* `path` as it was compiled, below `sysroot` (NULL = "/"). FALSE with errno: there is none. */
bool sysprof_source_lines_init (SourceLines *self, const char *sysroot, const char *path);
void sysprof_source_lines_clear (SourceLines *self);

/* From 1; NULL = the file has no such line. Any bytes. */
const char *sysprof_source_lines_get (const SourceLines *self, uint32_t line);
