// SPDX-License-Identifier: GPL-3.0-or-later

/* Repeats write() until all bytes are written. */

#include "util/write-all.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

bool
sysprof_write_all (int fd, const void *bytes, size_t size)
{
  const uint8_t *at = bytes;

  while (size > 0)
    {
      ssize_t n = write (fd, at, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n == 0)
        errno = ENOSPC; /* a device that accepts no more data and reports no error */
      if (n <= 0)
        return false;
      at += n;
      size -= (size_t) n;
    }
  return true;
}

bool
sysprof_is_truncated (int fd, uint64_t size)
{
  struct stat info;

  return fstat (fd, &info) == 0 && S_ISREG (info.st_mode) && (uint64_t) info.st_size < size;
}
