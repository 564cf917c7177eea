// SPDX-License-Identifier: BSD-2-Clause

/* Appends frames to the capture behind SYSPROF_TRACE_FD. See trace-file.h. */

#include "capture/trace-file.h"

#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_DESCRIPTOR 3   /* standard input, output and error are never meant */
#define HIGH_DESCRIPTOR  512 /* out of the way of the program's own */

/* In the unused end of the header: another collector began the file, so that this one may
 * append to it. */
static const char collector_tag[] = "sysprof-collector";

static int trace_fd = -1; /* set once, before the first append */
static dev_t trace_device;
static ino_t trace_inode;

/* The program may have closed all descriptors and opened a file of its own under our number. */
static bool
is_trace_file (void)
{
  struct stat info;

  return fstat (trace_fd, &info) == 0 && info.st_dev == trace_device &&
         info.st_ino == trace_inode;
}

/* Writes the header through a mapping: unlike pwrite(), it does not append, and two collectors
 * that do it at once do no harm. */
static bool
begin_capture (bool is_empty)
{
  SysprofCaptureFileHeader *header;
  char *tag;
  bool is_ours;

  /* Unlike ftruncate() it never shortens a file to which another collector has appended
   * meanwhile. */
  if (is_empty && fallocate (trace_fd, 0, 0, sizeof *header) < 0)
    return false;
  header = mmap (NULL, sizeof *header, PROT_READ | PROT_WRITE, MAP_SHARED, trace_fd, 0);
  if (header == MAP_FAILED)
    return false;

  tag = header->suffix + sizeof header->suffix - sizeof collector_tag;
  if (is_empty)
    {
      sysprof_capture_header_init (header, SYSPROF_CAPTURE_CURRENT_TIME);
      memcpy (tag, collector_tag, sizeof collector_tag);
    }
  is_ours = memcmp (tag, collector_tag, sizeof collector_tag) == 0;
  (void) munmap (header, sizeof *header); /* our own mapping */

  return is_ours;
}

bool
sysprof_trace_file_open (void)
{
  int fd = sysprof_capture_descriptor_from_env (SYSPROF_TRACE_FD_VARIABLE, FIRST_DESCRIPTOR);
  int flags = fd >= 0 ? fcntl (fd, F_GETFL) : -1;
  struct stat info;

  if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || fstat (fd, &info) < 0 ||
      !S_ISREG (info.st_mode) ||
      (info.st_size > 0 && (size_t) info.st_size < sizeof (SysprofCaptureFileHeader)))
    return false;

  trace_fd = fcntl (fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
  if (trace_fd < 0)
    trace_fd = fcntl (fd, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
  if (trace_fd < 0)
    return false;

  trace_device = info.st_dev;
  trace_inode = info.st_ino;
  if (begin_capture (info.st_size == 0) && fcntl (trace_fd, F_SETFL, flags | O_APPEND) == 0)
    return true;

  (void) close (trace_fd); /* nothing was written */
  trace_fd = -1;
  return false;
}

bool
sysprof_trace_file_append (const uint8_t *frame, size_t len)
{
  ssize_t n;

  if (!is_trace_file ())
    return false;
  do
    n = write (trace_fd, frame, len);
  while (n < 0 && errno == EINTR);

  return n == (ssize_t) len;
}
