// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the files in which running programs name the code that they generate: perf maps, by the number that a process has in its own
 * PID namespace, below the root directory that it sees, and jitdumps, which it maps.
 *
 * Every user may write to /tmp, and mount there a file system that never answers. So the files are opened with the rights of the
 * process's user (util/process-files.h), by a child of a child. The first child holds them until the end of the recording, as a
 * file may vanish with its process, or be written late. Only regular files of that user or of root are taken, and no symbolic link
 * is followed. *Owned* by the pump thread, which waits for the child only at the end. */

#pragma once

#include "jit/jit.h"
#include "util/util.h"

#include <stdbool.h>
#include <stdint.h>

#define JIT_FINDER_MOST_PATH  256
#define JIT_FINDER_MOST_FILES 512 /* at once */

typedef struct
{
  ConfinedChild child;
  bool is_broken; /* the child is not asked again */
} JitFinder;

#define JIT_FINDER_INIT                            \
  {                                                \
    .child = {.socket = -1, .keeps_rights = true } \
  }

/* Process `pid` generates code; `dump` is the path of a jitdump that it maps, as it sees it, else NULL. Telling it twice does not
 * harm. Does not wait. */
void sysprof_jit_finder_tell (JitFinder *self, int32_t pid, const char *dump);

typedef enum
{
  JIT_FOUND_FILE,
  JIT_FOUND_REFUSED, /* a file that is not to be trusted; `reason` says why */
  JIT_FOUND_END,
} JitFoundKind;

typedef enum
{
  JIT_REFUSED_LINK,    /* there is a symbolic link in its path */
  JIT_REFUSED_NO_FILE, /* not a regular file */
  JIT_REFUSED_OWNER,
  JIT_REFUSED_RIGHTS, /* the process's user may not read it */
  JIT_REFUSED_OLD,    /* from before the process: of another one with the same number */
  JIT_REFUSED_OTHER,  /* it cannot be opened */
} JitRefusal;

typedef struct
{
  uint32_t found; /* JitFoundKind */
  uint32_t kind;  /* JitFileKind */
  int32_t pid;
  uint32_t reason; /* JitRefusal */
  uint32_t uid;    /* whose it is */
  uint32_t padding;
  uint64_t size; /* bytes; JIT_FOUND_END: how often there was no room for one more process */
  char path[JIT_FINDER_MOST_PATH]; /* as the process sees it, fit to be printed */
} JitFound;

/* Asks for what was found: to be called before sysprof_jit_finder_next(). */
void sysprof_jit_finder_begin (JitFinder *self);
/* The next; `envelope` (util/opener.h) is the caller's, -1 = none. FALSE at the end, where `found` is JIT_FOUND_END if all was told. */
bool sysprof_jit_finder_next (JitFinder *self, JitFound *found, int *envelope);

void sysprof_jit_finder_clear (JitFinder *self);
