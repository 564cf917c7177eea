// SPDX-License-Identifier: GPL-3.0-or-later

/* Where the file behind a mapping may be on this machine. */

#pragma once

#include "symbolize/batch.h"
#include "symbolize/capture-mounts.h"
#include "symbolize/elf-worker.h"
#include "util/util.h"

#define MOST_ROOTS 9

/* The roots of the capture's processes, each asked for once. */
typedef struct
{
  uint16_t
      *of_process; /* [processes.n] 0 = not asked yet, 1 = no other than ours, else 2 + index */
  GArray *roots;   /* of KnownRoot: all are different */
} ProcessRoots;

void sysprof_process_roots_init (ProcessRoots *self, const Symbolization *symbolization);
void sysprof_process_roots_clear (ProcessRoots *self);

/* Directories below which a path of the capture is looked up, in order. A root of -1 is our own. Borrowed. */
typedef struct
{
  int fd[MOST_ROOTS];
  const char
      *path[MOST_ROOTS]; /* of the root, as the kernel tells it to us; NULL = "/", or unknown */
  unsigned n;
} FileRoots;

/* The given sysroot; else the roots of living processes that mapped the file and see other files than we do, then
 * our own. */
void sysprof_file_roots_find (FileRoots *self,
                              ProcessRoots *roots,
                              const Symbolization *symbolization,
                              const FileBatch *batch);

/* What of `path` lies below the nth root, of a process that changed its root within a mount namespace: what it had mapped before
 * the recording, the kernel told whoever read it by paths from the root of that namespace. NULL: it is not told so. */
const char *sysprof_file_roots_find_rest (const FileRoots *self, unsigned n, const char *path);

/* Opens a regular file for reading, and nothing else: opening a device can have effects. Below a root, absolute
 * links stay below it. An envelope, and in `info` what the file is; -1 with errno, which is ETIMEDOUT where its file system does
 * not answer. */
int sysprof_open_regular_file (Opener *opener, int root, const char *path, struct stat *info);

/* Whose rights to files count for a path that an ELF file names, if we are root: those of the owner of the ELF file, or of nobody. */
#define READER_OURSELVES UINT32_MAX
#define READER_NOBODY    65534

/* The reader for what an ELF file names that was found below `root`, of a process, at `path`. */
uint32_t
sysprof_find_reader (Opener *opener, int root, const char *path, const struct stat *info);

/* A regular file for that reader. */
int sysprof_open_debug_file (Opener *opener,
                             uint32_t reader,
                             int root,
                             const char *path,
                             struct stat *info);

/* The same for a path that a file names, which may be that of anything: nothing but an ELF file is handed out, else ENOEXEC. */
int sysprof_open_elf_file (Opener *opener,
                           uint32_t reader,
                           int root,
                           const char *path,
                           struct stat *info);

/* A copy of it in memory, `info->st_size` bytes, which takes no time to read; EFBIG: it is larger than MOST_SOURCE_SIZE. */
int sysprof_copy_text_file (Opener *opener,
                            uint32_t reader,
                            int root,
                            const char *path,
                            struct stat *info);

/* Through links: /lib is /usr/lib, /usr/bin/x is /etc/alternatives/x. NULL: nobody can say. */
char *sysprof_find_real_path (Opener *opener, const char *path);

/* Where on this machine that file may be which the processes of the batch know as `path`, by what the capture says of them; the likeliest first.
 * `is_ours`: one of them saw our files, so that the path itself is as good. GPtrArray of char*, which frees them. */
GPtrArray *sysprof_list_translations (CaptureMounts *mounts,
                                      const Store *store,
                                      const FileBatch *batch,
                                      const char *path,
                                      bool *is_ours);
