// SPDX-License-Identifier: BSD-2-Clause

#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ASSUMED_PAGE_SIZE 4096

size_t
sysprof_getpagesize (void)
{
  long size = sysconf (_SC_PAGESIZE);

  return size > 0 ? (size_t) size : ASSUMED_PAGE_SIZE;
}

int
sysprof_memfd_create (const char *name)
{
  char path[] = "/tmp/sysprof-XXXXXX";
  int fd;

  fd = memfd_create (name != NULL ? name : "[sysprof]", MFD_CLOEXEC);
  if (fd >= 0 || errno != ENOSYS)
    return fd;

  fd = mkostemp (path, O_CLOEXEC);
  if (fd >= 0)
    (void) unlink (path); /* at worst an empty file stays behind */

  return fd;
}
