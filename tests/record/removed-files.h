// SPDX-License-Identifier: GPL-3.0-or-later

/* As in /sys and in cgroups, a file that was removed cannot be read any more, though its descriptor is still open. A file system on a
 * disk knows nothing like it, so what reads is replaced, for the whole of the test's program. */

#pragma once

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int
is_removed (int fd)
{
  char link[32], target[16] = "";
  struct stat info;

  (void) snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  return fstat (fd, &info) == 0 && S_ISREG (info.st_mode) && info.st_nlink == 0 &&
         readlink (link, target, sizeof target - 1) > 0 &&
         strncmp (target, "/memfd:", 7) != 0; /* which never had a name: captures of tests */
}

ssize_t pread (int fd, void *buffer, size_t size, off_t offset);

ssize_t
pread (int fd, void *buffer, size_t size, off_t offset)
{
  if (is_removed (fd))
    {
      errno = ENODEV;
      return -1;
    }
  return syscall (SYS_pread64, fd, buffer, size, offset);
}
