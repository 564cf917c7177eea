// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens untrusted files in a child, with the rights of the user who may read them. */

#pragma once

#include "util/util.h"

#define MOST_SOURCE_SIZE (16 << 20) /* bytes */

/* The account whose rights are used to open a path that an ELF file names, if we are root: that
 * of the owner of the ELF file, or of nobody. */
#define READER_OURSELVES UINT32_MAX
#define READER_NOBODY    65534

/* Returns the reader for paths that the ELF file names which was found at `path` below `root`,
 * the root directory of a process. */
uint32_t
sysprof_find_reader (Opener *opener, int root, const char *path, const struct stat *info);

typedef enum
{
  OPEN_REGULAR_FILE,
  /* for a path that an untrusted file names: fails with ENOEXEC if it is not an ELF file, so
   * that no other content is exposed */
  OPEN_ELF_FILE,
  /* a copy in memory of `info->st_size` bytes, so that reading it cannot block. EFBIG: it is
   * larger than MOST_SOURCE_SIZE */
  OPEN_TEXT_COPY,
  OPEN_REAL_PATH, /* its path without symbolic links, as the contents of a file */
} OpenMode;

/* Opens a regular file for reading, with the rights of `reader`. Other files are never opened,
 * because opening a device can have side effects. Below a root, absolute symbolic links are
 * resolved below it. Returns an envelope, and sets `info` to the result of fstat(). -1 with
 * errno, which is ETIMEDOUT if the file system does not respond. */
int sysprof_open_file (Opener *opener,
                       OpenMode mode,
                       uint32_t reader,
                       int root,
                       const char *path,
                       struct stat *info);

/* Resolves symbolic links: /lib is /usr/lib, /usr/bin/x is /etc/alternatives/x. Returns NULL if
 * they cannot be resolved. */
char *sysprof_find_real_path (Opener *opener, const char *path);
