// SPDX-License-Identifier: GPL-3.0-or-later

/* Debug files of debuginfod servers, and what of theirs the cache has that is shared with other programs. */

#pragma once

#include "symbolize/symbolizer.h"

/* What is wanted of one build, and what came of it. */
typedef struct
{
  const char *build_id; /* lower-case hex */
  bool may_ask;         /* servers; else the cache alone */
  bool is_executable;   /* the program or library itself, not its debug file */
  const char
      *source; /* NULL, or what is wanted is that source file, by the path as it was compiled */
  uint64_t weight; /* events with it in their stack; the heaviest come first */
  char *path;      /* in the cache; NULL = not there */
} DebuginfodFile;

/* Looks for `files` in the cache and at the servers that DEBUGINFOD_URLS names, for a bounded time. With a `queue`, files that
 * servers would be asked for are added to it instead. Sorts `files` by weight. What is found is a stranger's: nobody has looked into it. */
void sysprof_debuginfod_fetch (DebuginfodFile *files,
                               uint32_t n,
                               const Progress *progress,
                               DebuginfodQueue *queue,
                               DebuginfodFunc func,
                               void *data,
                               DebuginfodStatus *status);
/* The path of a debug file that came before; NULL = there is none. Free with g_free(). */
char *sysprof_debuginfod_find_cached (const char *build_id);
void sysprof_debuginfod_files_clear (DebuginfodFile *files, uint32_t n);
