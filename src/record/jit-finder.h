// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the files in which running programs say what the code is called that they generate: perf maps, by the number that a process
 * has in its own namespace, below the root that it sees, and jitdumps, which it maps.
 *
 * Whoever may write to /tmp may put there what he likes, on a file system that never answers. So a child does it, which
 * keeps our rights, and holds what it finds until the end: a file may vanish with its process, or be written late. It opens regular
 * files only, follows no links, and takes none of a stranger's. *Owned* by the pump thread, which does not wait for it
 * but at the end. */

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
  JIT_REFUSED_OLD,   /* from before the process: of another one with the same number */
  JIT_REFUSED_OTHER, /* it cannot be opened */
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
