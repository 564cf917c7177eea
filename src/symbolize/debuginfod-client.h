// SPDX-License-Identifier: GPL-3.0-or-later

/* Fetches debug files from debuginfod servers, and finds files in the cache that is shared with
 * other debuginfod clients. */

#pragma once

#include "symbolize/symbolizer.h"

/* A requested file of one build, and the result. */
typedef struct
{
  const char *build_id; /* lower-case hex */
  bool may_ask;         /* from servers; else from the cache only */
  bool is_executable;   /* the program or library itself, not its debug file */
  const char *source; /* if not NULL, requests this source file, by its path at compile time */
  /* number of events with the file in their stack; the heaviest files are fetched first */
  uint64_t weight;
  char *path; /* in the cache; NULL = not found */
} DebuginfodFile;

/* Looks for `files` in the cache and on the servers in DEBUGINFOD_URLS, for a limited time.
 * With a `queue`, files that servers would be asked for are added to it instead. Sorts `files`
 * by weight. The files found are untrusted and not checked. */
void sysprof_debuginfod_fetch (DebuginfodFile *files,
                               uint32_t n,
                               const Progress *progress,
                               DebuginfodQueue *queue,
                               DebuginfodFunc func,
                               void *data,
                               DebuginfodStatus *status);
/* Returns the path of a debug file that was fetched earlier, or NULL if there is none. Free
 * with g_free(). */
char *sysprof_debuginfod_find_cached (const char *build_id);
void sysprof_debuginfod_files_clear (DebuginfodFile *files, uint32_t n);
