// SPDX-License-Identifier: GPL-3.0-or-later

/* Where the file behind a mapping, and its separate debug file, may be on this machine. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/elf-worker.h"

#define MOST_ROOTS 9

/* Directories below which a path of the capture is looked up, in order. A root of -1 is our own. */
typedef struct
{
  int fd[MOST_ROOTS];
  unsigned n;
} FileRoots;

/* The given sysroot; else the roots of living processes that mapped the file and see other files than we do, then
 * our own. Close with sysprof_file_roots_clear(). */
void sysprof_file_roots_init (FileRoots *self,
                              const Symbolization *symbolization,
                              const FileBatch *batch);
void sysprof_file_roots_clear (FileRoots *self);

/* Opens a regular file for reading, and nothing else: opening a device can have effects. Below a root, absolute
 * links stay below it. -1 with errno. */
int sysprof_open_regular_file (int root, const char *path);

/* Where a debug file of `path` may be. */
typedef struct
{
  int root; /* borrowed */
  char *path;
} DebugCandidate;

/* GArray of DebugCandidate, the likeliest first. */
GArray *sysprof_list_debug_candidates (const Symbolization *symbolization,
                                       int root,
                                       const char *path,
                                       int fd,
                                       const ElfFacts *facts);
