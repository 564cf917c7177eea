// SPDX-License-Identifier: BSD-2-Clause

/* The few calls that differ between C libraries: page size, descriptors named in the
 * environment, memfd. */

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
sysprof_capture_descriptor_from_env (const char *name, int first)
{
  const char *text = getenv (name);
  char *end;
  long number;

  if (text == NULL || *text < '0' || *text > '9')
    return -1;

  errno = 0;
  number = strtol (text, &end, 10);
  if (errno != 0 || *end != '\0' || number < first || number > INT32_MAX)
    return -1;

  return (int) number;
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
