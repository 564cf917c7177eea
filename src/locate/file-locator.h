// SPDX-License-Identifier: GPL-3.0-or-later

/* Locates the file behind a mapping on this machine. */

#pragma once

#include "locate/capture-mounts.h"
#include "locate/open-file.h"
#include "locate/stop-event.h"

#define MOST_ROOTS 9

/* What a search has found out about this machine; each part once. *Owned* by the thread that
 * symbolizes. */
typedef struct
{
  LocateOptions options;
  StopEvent stop; /* becomes readable once the search is canceled */
  Opener opener;
  /* [processes.n] root directory: 0 = unknown, 1 = same as ours, else 2 + index */
  uint16_t *root_of_process;
  GArray *roots;         /* of KnownRoot, without duplicates */
  CaptureMounts *mounts; /* NULL: files are looked for below the sysroot */
  char **flatpak_dirs;   /* of debug files; NULL = not listed yet */
} FileLocator;

/* Copies the options. The structure must not move until it is cleared. */
void sysprof_file_locator_init (FileLocator *self, const LocateOptions *options);
void sysprof_file_locator_clear (FileLocator *self);

/* Directories below which a path of the capture is looked up, in order. A root of -1 is our
 * own. Borrowed. */
typedef struct
{
  int fd[MOST_ROOTS];
  /* of the root, as the kernel shows it to this process; NULL = "/", or unknown */
  const char *path[MOST_ROOTS];
  unsigned n;
} FileRoots;

/* Finds the roots for a file: the given sysroot; else the roots of running processes that
 * mapped the file and have a different view of files than we do, then our own. */
void sysprof_file_roots_find (FileRoots *self, FileLocator *locator, const FileBatch *batch);

/* For a process that changed its root within a mount namespace: for files that it had mapped
 * before the recording, the recorder got paths relative to the root of the namespace. Returns
 * the part of `path` below the nth root, or NULL if the path is not below it. */
const char *sysprof_file_roots_find_rest (const FileRoots *self, unsigned n, const char *path);

/* Lists where the file that the batch's processes know as `path` may be on this machine,
 * according to the capture, the most likely path first. Sets `is_ours` if one of the processes
 * saw this machine's files, so that `path` itself can be tried, too. Returns a GPtrArray of
 * char*, which owns them. Only without a sysroot. */
GPtrArray *sysprof_list_translations (FileLocator *self,
                                      const FileBatch *batch,
                                      const char *path,
                                      bool *is_ours);
