// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens untrusted files in a child, with the rights of the user who may read them. */

#pragma once

#include "util/util.h"

#define MOST_SOURCE_SIZE (16 << 20) /* bytes */

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
