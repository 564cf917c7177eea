// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the capture library: a capture of any bytes is read, filtered and joined. The
 * joined capture must be valid. */

#include "capture/capture.h"
#include "fuzz/fuzz.h"
#include "join/join.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int
fill (const uint8_t *bytes, size_t size)
{
  int fd = memfd_create ("fuzz-capture", MFD_CLOEXEC);

  if (fd < 0 || write (fd, bytes, size) != (ssize_t) size)
    abort ();
  return fd;
}

static void
read_frames (SysprofCaptureReader *reader)
{
  SysprofCaptureFrameType type;

  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      SysprofCaptureJitmapIter iter;
      const SysprofCaptureJitmap *jitmap;
      SysprofCaptureAddress address;
      const char *name;

      if (type != SYSPROF_CAPTURE_FRAME_JITMAP)
        {
          if (!sysprof_capture_reader_skip (reader))
            abort ();
          continue;
        }
      jitmap = sysprof_capture_reader_read_jitmap (reader);
      if (jitmap == NULL)
        abort ();
      sysprof_capture_jitmap_iter_init (&iter, jitmap);
      while (sysprof_capture_jitmap_iter_next (&iter, &address, &name))
        if (name[0] == 1)
          (void) address; /* the sanitizer sees that there is a first byte */
    }
}

static void
read_files (SysprofCaptureReader *reader)
{
  const char **names = sysprof_capture_reader_list_files (reader);

  for (size_t i = 0; names != NULL && names[i] != NULL; i++)
    {
      int fd = memfd_create ("file", MFD_CLOEXEC);

      if (fd < 0 || !sysprof_capture_reader_reset (reader) ||
          !sysprof_capture_reader_read_file_fd (reader, names[i], fd))
        abort ();
      close (fd);
    }
  free (names);
}

static void
join (SysprofCaptureReader *reader)
{
  SysprofCaptureReader *const readers[] = { reader, reader };
  int fd = memfd_create ("joined", MFD_CLOEXEC);
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (dup (fd), 0);
  SysprofCaptureStat before, after;
  SysprofCaptureReadStatus status;
  SysprofCaptureReader *joined;

  if (writer == NULL || !sysprof_capture_writer_join (writer, readers, 2, NULL, NULL) ||
      !sysprof_capture_writer_flush (writer))
    abort ();
  sysprof_capture_writer_unref (writer);

  joined = sysprof_capture_reader_new_from_fd (fd);
  if (joined == NULL || !sysprof_capture_reader_get_stat (reader, &before) ||
      !sysprof_capture_reader_get_stat (joined, &after))
    abort ();
  while (sysprof_capture_reader_skip (joined))
    continue;
  sysprof_capture_reader_get_status (joined, &status);
  if (status.n_damaged > 0 || status.is_cut ||
      after.frame_count[SYSPROF_CAPTURE_FRAME_SAMPLE] !=
          2 * before.frame_count[SYSPROF_CAPTURE_FRAME_SAMPLE])
    abort ();
  sysprof_capture_reader_unref (joined);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  SysprofCaptureReader *reader = sysprof_capture_reader_new_from_fd (fill (bytes, size));

  if (reader == NULL)
    return 0;

  read_frames (reader);
  if (!sysprof_capture_reader_reset (reader))
    abort ();
  read_files (reader);
  if (!sysprof_capture_reader_reset (reader))
    abort ();
  join (reader);
  sysprof_capture_reader_unref (reader);
  return 0;
}
