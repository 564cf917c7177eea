// SPDX-License-Identifier: GPL-3.0-or-later

/* A temporary capture for frames that are appended to the recording at its end (see
 * late-frames.h). */

#include "record/tail-frames.h"

#include "capture/capture.h"
#include "record/output.h"
#include "util/util.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#define BUFFER_SIZE (1024 * 1024) /* bytes; the flush thread queues several */
/* The part of the initially free space that the file may use. Its frames exist twice while they
 * are appended, and the recording needs space, too. */
#define SHARE_OF_FREE 4

struct TailFrames
{
  SysprofCaptureWriter *writer;
  Output *output;
  uint64_t most; /* bytes */
};

/* On the flush thread. The recording continues; lost frames are counted at the end. */
static void
write_failed (void *data)
{
}

static uint64_t
get_most (int fd)
{
  struct statvfs info;

  return fstatvfs (fd, &info) == 0 ? (uint64_t) info.f_bavail * info.f_frsize / SHARE_OF_FREE
                                   : UINT64_MAX;
}

TailFrames *
sysprof_tail_frames_new (GError **error)
{
  g_autofree TailFrames *self = g_new0 (TailFrames, 1);
  int fd = sysprof_temporary_file_open_unnamed ();

  if (fd >= 0)
    {
      self->most = get_most (fd);
      /* takes ownership of `fd` */
      self->writer = sysprof_capture_writer_new_from_fd (fd, BUFFER_SIZE);
    }
  if (self->writer != NULL)
    self->output = sysprof_output_new (self->writer, false, write_failed, self, error);
  else
    sysprof_set_error_errno (error,
                             "Cannot create a temporary file for recorded messages in "
                             "'%s'",
                             g_get_tmp_dir ());
  if (self->output != NULL)
    return g_steal_pointer (&self);

  if (self->writer != NULL)
    sysprof_capture_writer_unref (self->writer);
  return NULL;
}

void
sysprof_tail_frames_free (TailFrames *self)
{
  if (self == NULL)
    return;

  sysprof_output_free (self->output);
  sysprof_capture_writer_unref (self->writer);
  g_free (self);
}

SysprofCaptureWriter *
sysprof_tail_frames_get_writer (TailFrames *self)
{
  return self->writer;
}

uint64_t
sysprof_tail_frames_get_size (TailFrames *self)
{
  return sysprof_capture_writer_get_size (self->writer);
}

uint64_t
sysprof_tail_frames_get_n_frames (TailFrames *self)
{
  return sysprof_capture_writer_get_n_frames (self->writer);
}

bool
sysprof_tail_frames_has_room (TailFrames *self)
{
  return sysprof_capture_writer_get_size (self->writer) < self->most;
}

void
sysprof_tail_frames_flush (TailFrames *self)
{
  sysprof_output_flush (self->output);
}

uint64_t
sysprof_tail_frames_append_to (TailFrames *self, SysprofCaptureWriter *writer, GError **error)
{
  uint64_t n_kept = sysprof_capture_writer_get_n_frames (self->writer);
  uint64_t n_before = sysprof_capture_writer_get_n_frames (writer);
  SysprofCaptureReader *reader = NULL;
  autofd fd = -1;
  uint64_t n_lost;

  /* Frames written before an error are still available. */
  (void) sysprof_output_sync (self->output, error);
  fd = sysprof_output_dup_fd (self->output);
  if (fd >= 0)
    reader = sysprof_capture_reader_new_from_fd (sysprof_steal_fd (&fd));
  if (reader != NULL)
    {
      (void) sysprof_capture_reader_splice (reader, writer); /* lost frames are counted below */
      sysprof_capture_reader_unref (reader);
    }

  n_lost = n_kept - (sysprof_capture_writer_get_n_frames (writer) - n_before);
  if (n_lost > 0 && error != NULL && *error == NULL)
    sysprof_set_error_errno (error, "Cannot read back messages from a temporary file");
  return n_lost;
}
