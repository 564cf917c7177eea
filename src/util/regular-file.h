// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens untrusted paths without side effects.
 *
 * Opening a device can start a watchdog or rewind a tape, opening a FIFO wakes its writer, and
 * reading some files of procfs and tracefs consumes their contents. So the path is first
 * resolved with O_PATH, which opens nothing. Then the type of the file is checked. Then the
 * same file is opened through its descriptor, wherever the path leads now. Every open() of a
 * path that another user influences uses these functions. Plain C. */

#pragma once

#include <stdint.h>
#include <sys/stat.h>

/* Opens `path` for reading and describes it in `info`. `directory` is a descriptor or AT_FDCWD;
 * `resolve` is 0 or the RESOLVE_* flags of openat2(2). -1 with errno: ENOTSUP for anything but
 * a regular file of a file system that stores data (`info` then describes it, if known), ELOOP
 * for a symbolic link that `resolve` forbids. May block for as long as the file system does. */
int sysprof_regular_file_open (int directory,
                               const char *path,
                               uint64_t resolve,
                               struct stat *info);

/* The same for the file that the O_PATH descriptor `path_fd` (borrowed) refers to. */
int sysprof_regular_file_reopen (int path_fd, struct stat *info);
