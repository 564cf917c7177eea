// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens untrusted paths: resolves with O_PATH, checks the type, then opens the same file. */

#include "util/regular-file.h"

#include "util/autofd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef EFIVARFS_MAGIC
#  define EFIVARFS_MAGIC 0xde5e81e4
#endif
#ifndef FUSE_SUPER_MAGIC
#  define FUSE_SUPER_MAGIC 0x65735546
#endif

/* Files of procfs, sysfs, tracefs, nsfs and similar are regular files by their mode. These file
 * systems report a size of 0 blocks (simple_statfs() of the kernel). The few that store data
 * and do so, too, are listed here. */
static bool
is_pseudo_file (int fd)
{
  struct statfs info;

  if (fstatfs (fd, &info) != 0)
    return false; /* a server of files refused: simple_statfs() never fails */
  if (info.f_blocks != 0)
    return (uint32_t) info.f_type == EFIVARFS_MAGIC;

  switch ((uint32_t) info.f_type)
    {
    case FUSE_SUPER_MAGIC: /* if the server does not implement statfs */
    case HUGETLBFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC: /* reports its upper layer */
    case RAMFS_MAGIC:
    case TMPFS_MAGIC: /* if mounted without a limit */
    case V9FS_MAGIC:
      return false;
    default:
      return true;
    }
}

int
sysprof_regular_file_reopen (int path_fd, struct stat *info)
{
  char link[64];

  if (fstat (path_fd, info) != 0)
    return -1;
  if (!S_ISREG (info->st_mode) || is_pseudo_file (path_fd))
    {
      errno = ENOTSUP;
      return -1;
    }

  (void) snprintf (link, sizeof link, "/proc/self/fd/%d", path_fd);
  /* Without O_NONBLOCK, open() waits for the holder of a lease on the file. */
  return open (link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int
sysprof_regular_file_open (int directory, const char *path, uint64_t resolve, struct stat *info)
{
  struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
  autofd path_fd = resolve != 0 ? (int) syscall (SYS_openat2, directory, path, &how, sizeof how)
                                : openat (directory, path, O_PATH | O_CLOEXEC);

  *info = (struct stat){ 0 };
  return path_fd >= 0 ? sysprof_regular_file_reopen (path_fd, info) : -1;
}
