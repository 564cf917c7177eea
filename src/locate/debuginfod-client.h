// SPDX-License-Identifier: GPL-3.0-or-later

/* Fetches debug files from debuginfod servers, and finds files in the cache that is shared with
 * other debuginfod clients. */

#pragma once

#include "store/store.h"

/* The progress and result of requests to debuginfod servers. */
typedef struct
{
  /* debug files that were in the cache, so that no server was asked */
  uint32_t n_cached;
  uint32_t n_known_missing; /* likewise: recently no server had the file */
  uint32_t n_asked;
  uint32_t n_done; /* finished requests; each one is counted in one of the next four */
  uint32_t n_found;
  uint32_t n_not_found;
  uint32_t n_failed; /* no answer in time, or an error */
  uint32_t n_too_large;
  uint32_t n_unfit; /* found or cached, but not the requested file: not used */
  uint64_t bytes;
  double seconds;
  int first_error;    /* errno of a failed request, 0 = unknown */
  bool is_of_sources; /* the requests are for source files, not for debug files */
  bool is_out_of_time;
  bool is_done;
  char *problem; /* why no server could be asked, or NULL */
} DebuginfodStatus;

/* Called by the thread that symbolizes: repeatedly while servers are asked, and at the end. */
typedef void (*DebuginfodFunc) (const DebuginfodStatus *status, void *data);

/* Returns the progress, or at the end one sentence about the result; NULL = nothing to report.
 * Free with g_free(). */
char *sysprof_debuginfod_describe (const DebuginfodStatus *status);

/* Files to request from servers later, so that symbolization does not wait for them. The next
 * symbolization finds them in the cache. *Owned* by one thread at a time. */
typedef struct DebuginfodQueue DebuginfodQueue;

DebuginfodQueue *sysprof_debuginfod_queue_new (void);
void sysprof_debuginfod_queue_free (DebuginfodQueue *self);
uint32_t sysprof_debuginfod_queue_get_n (const DebuginfodQueue *self);
/* Downloads the files into the cache, for one minute at most. Calls `func` like symbolization
 * does. */
void sysprof_debuginfod_queue_fetch (DebuginfodQueue *self, DebuginfodFunc func, void *data);

/* Returns why no server can be asked: none is configured, or libdebuginfod is missing. NULL =
 * servers can be asked. Free with g_free(). */
char *sysprof_debuginfod_check (void);

/* For programs with the options --debuginfod and --no-debuginfod: returns whether to ask
 * servers. If servers are wanted and DEBUGINFOD_URLS is not set, sets it from /etc/debuginfod.
 * So call this before other threads are started. */
bool sysprof_debuginfod_may_ask (bool is_wanted, bool is_refused);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DebuginfodQueue, sysprof_debuginfod_queue_free)

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
