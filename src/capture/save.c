// SPDX-License-Identifier: BSD-2-Clause

/* Saving a capture under another name: a copy of its bytes. */

#include "capture/reader.h"
#include "capture/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_SIZE    65536
#define CAPTURE_MODE 0640

static bool
copy_bytes (int from, int to)
{
  uint8_t *bytes = malloc (COPY_SIZE);
  bool is_done = false;
  off_t at = 0;

  if (bytes == NULL)
    return false;

  while (!is_done)
    {
      ssize_t n_read = pread (from, bytes, COPY_SIZE, at);
      size_t n_written;

      if (n_read < 0 && errno == EINTR)
        continue;
      is_done = n_read == 0;
      if (n_read < 0 || !sysprof_capture_write_all (to, bytes, (size_t) n_read, &n_written))
        break;
      at += n_read;
    }
  free (bytes);

  return is_done;
}

bool
sysprof_capture_copy_file (int fd, const char *filename)
{
  struct stat source, destination;
  bool is_done;
  int saved;
  int to;

  to = open (filename, O_CREAT | O_WRONLY | O_CLOEXEC, CAPTURE_MODE);
  if (to < 0)
    return false;

  if (fstat (fd, &source) < 0 || fstat (to, &destination) < 0)
    is_done = false;
  else if (source.st_dev == destination.st_dev && source.st_ino == destination.st_ino)
    is_done = true; /* it is there already; truncating would destroy it */
  else
    is_done = (!S_ISREG (destination.st_mode) || ftruncate (to, 0) == 0) && copy_bytes (fd, to);

  saved = errno;
  if (close (to) < 0 && is_done)
    return false;
  errno = saved;

  return is_done;
}

bool
sysprof_capture_reader_save_as (SysprofCaptureReader *self, const char *filename)
{
  return sysprof_capture_copy_file (self->fd, filename);
}

/* A descriptor to read what the writer wrote; its own may be for writing only. */
static int
open_for_reading (SysprofCaptureWriter *self)
{
  char path[sizeof "/proc/self/fd/" + 10];
  int flags = fcntl (self->fd, F_GETFL);

  if (flags < 0)
    return -1;
  if ((flags & O_ACCMODE) != O_WRONLY)
    return fcntl (self->fd, F_DUPFD_CLOEXEC, 0);

  (void) snprintf (path, sizeof path, "/proc/self/fd/%d", self->fd);

  return open (path, O_RDONLY | O_CLOEXEC);
}

bool
sysprof_capture_writer_save_as (SysprofCaptureWriter *self, const char *filename)
{
  bool is_done;
  int saved;
  int fd;

  if (!sysprof_capture_writer_flush (self))
    return false;

  fd = open_for_reading (self);
  if (fd < 0)
    return false;

  is_done = sysprof_capture_copy_file (fd, filename);
  saved = errno;
  (void) close (fd); /* only read from */
  errno = saved;

  return is_done;
}

SysprofCaptureReader *
sysprof_capture_writer_create_reader (SysprofCaptureWriter *self)
{
  int fd;

  if (!sysprof_capture_writer_flush (self))
    return NULL;

  fd = open_for_reading (self);

  return fd >= 0 ? sysprof_capture_reader_new_from_fd (fd) : NULL;
}
