// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the files in which running programs describe the code that they generate. These are
 * perf maps, which are named by the PID in the process's own PID namespace and are below its
 * root directory, and jitdumps, which the process maps.
 *
 * Every user may write to /tmp, and mount a file system there that never answers. So the files
 * are opened with the privileges of the process's user (util/children/process-files.h), by a
 * child of a child process. The first child holds them open until the end of the recording,
 * because a file may be deleted with its process, or be written late. Only regular files of that
 * user or of root are accepted, and symbolic links are not followed. *Owned* by the pump thread,
 * which waits for the child only at the end. */

#pragma once

#include "jit/jit.h"
#include "util/util.h"

#include <stdbool.h>
#include <stdint.h>

#define JIT_FINDER_MOST_PATH  256
#define JIT_FINDER_MOST_FILES 512 /* watched at once */

typedef struct
{
  ConfinedChild child;
  bool is_broken; /* no more requests are sent to the child */
} JitFinder;

#define JIT_FINDER_INIT          \
  {                              \
    .child = CONFINED_CHILD_INIT \
  }

/* Process `pid` generates code. `dump` is the path, as seen by the process, of a jitdump that
 * it maps, else NULL. Repeated calls are harmless. Does not wait. */
void sysprof_jit_finder_tell (JitFinder *self, int32_t pid, const char *dump);

typedef enum
{
  JIT_FOUND_FILE,
  JIT_FOUND_REFUSED, /* the file cannot be trusted; see `reason` */
  JIT_FOUND_END,
} JitFoundKind;

typedef enum
{
  JIT_REFUSED_LINK,    /* its path contains a symbolic link */
  JIT_REFUSED_NO_FILE, /* not a regular file */
  JIT_REFUSED_OWNER,
  JIT_REFUSED_RIGHTS, /* the process's user may not read it */
  JIT_REFUSED_OLD, /* older than the process: written by an earlier process with the same PID */
  JIT_REFUSED_OTHER, /* cannot be opened */
} JitRefusal;

typedef struct
{
  uint32_t found; /* JitFoundKind */
  uint32_t kind;  /* JitFileKind */
  int32_t pid;
  uint32_t reason; /* JitRefusal */
  uint32_t uid;    /* owner of the file */
  uint32_t padding;
  uint64_t size; /* bytes; JIT_FOUND_END: how many files could not be watched */
  char path[JIT_FINDER_MOST_PATH]; /* as seen by the process; only printable characters */
} JitFound;

/* Returns the next result. The caller owns `envelope` (util/children/opener.h); -1 = none.
 * FALSE at the end: `found` is JIT_FOUND_END if the results are complete. */
bool sysprof_jit_finder_next (JitFinder *self, JitFound *found, int *envelope);

void sysprof_jit_finder_clear (JitFinder *self);
