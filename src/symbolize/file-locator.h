// SPDX-License-Identifier: GPL-3.0-or-later

/* Locates the file behind a mapping on this machine. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/capture-mounts.h"
#include "symbolize/elf-worker.h"
#include "util/util.h"

#define MOST_ROOTS 9

/* The root directories of the recorded processes; each one is determined once. */
typedef struct
{
  uint16_t *of_process; /* [processes.n] 0 = unknown, 1 = same as ours, else 2 + index */
  GArray *roots;        /* of KnownRoot, without duplicates */
} ProcessRoots;

void sysprof_process_roots_init (ProcessRoots *self, const Symbolization *symbolization);
void sysprof_process_roots_clear (ProcessRoots *self);

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
void sysprof_file_roots_find (FileRoots *self,
                              ProcessRoots *roots,
                              const Symbolization *symbolization,
                              const FileBatch *batch);

/* For a process that changed its root within a mount namespace: for files that it had mapped
 * before the recording, the recorder got paths relative to the root of the namespace. Returns
 * the part of `path` below the nth root, or NULL if the path is not below it. */
const char *sysprof_file_roots_find_rest (const FileRoots *self, unsigned n, const char *path);

/* Opens a regular file for reading. Other files are never opened, because opening a device can
 * have side effects. Below a root, absolute symbolic links are resolved below it. Returns an
 * envelope, and sets `info` to the result of fstat(); on failure returns -1 with errno, which
 * is ETIMEDOUT if the file system does not respond. */
int sysprof_open_regular_file (Opener *opener, int root, const char *path, struct stat *info);

/* The account whose rights are used to open a path that an ELF file names, if we are root: that
 * of the owner of the ELF file, or of nobody. */
#define READER_OURSELVES UINT32_MAX
#define READER_NOBODY    65534

/* Returns the reader for paths that the ELF file names which was found at `path` below `root`,
 * the root directory of a process. */
uint32_t
sysprof_find_reader (Opener *opener, int root, const char *path, const struct stat *info);

/* Opens a regular file with the rights of `reader`. */
int sysprof_open_debug_file (Opener *opener,
                             uint32_t reader,
                             int root,
                             const char *path,
                             struct stat *info);

/* Likewise, for a path that an untrusted file names. If the file is not an ELF file, fails with
 * ENOEXEC, so that no other content is exposed. */
int sysprof_open_elf_file (Opener *opener,
                           uint32_t reader,
                           int root,
                           const char *path,
                           struct stat *info);

/* Likewise, but returns a copy in memory of `info->st_size` bytes, so that reading it cannot
 * block. EFBIG: it is larger than MOST_SOURCE_SIZE. */
int sysprof_copy_text_file (Opener *opener,
                            uint32_t reader,
                            int root,
                            const char *path,
                            struct stat *info);

/* Resolves symbolic links: /lib is /usr/lib, /usr/bin/x is /etc/alternatives/x. Returns NULL if
 * they cannot be resolved. */
char *sysprof_find_real_path (Opener *opener, const char *path);

/* Lists where the file that the batch's processes know as `path` may be on this machine,
 * according to the capture, the most likely path first. Sets `is_ours` if one of the processes
 * saw this machine's files, so that `path` itself can be tried, too. Returns a GPtrArray of
 * char*, which owns them. */
GPtrArray *sysprof_list_translations (CaptureMounts *mounts,
                                      const Store *store,
                                      const FileBatch *batch,
                                      const char *path,
                                      bool *is_ours);
