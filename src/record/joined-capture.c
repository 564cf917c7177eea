// SPDX-License-Identifier: GPL-3.0-or-later

/* Joins a capture that another process has written with the recording (see joined-capture.h).
 * The file is untrusted. */

#include "record/joined-capture.h"

#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static void
set_join_error (const char *who, GError **error)
{
  g_set_error (
      error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
      "Cannot join the capture of %s completely: %s. The part before the error is kept. "
      "Record where there is more space.",
      who, g_strerror (errno));
}

SysprofCaptureJoin *
sysprof_joined_capture_begin (RecordingContext *context,
                              const char *domain,
                              const char *who,
                              int fd,
                              GError **error)
{
  SysprofCaptureReader *reader;
  SysprofCaptureJoin *join;
  autofd copy = -1;
  struct stat info;
  uint64_t n_cut;

  if (fd >= 0 && fstat (fd, &info) == 0 && info.st_size == 0)
    return NULL;

  copy = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  reader = copy >= 0 && fstat (copy, &info) == 0
               ? sysprof_capture_reader_new_from_fd (sysprof_steal_fd (&copy))
               : NULL;
  if (reader == NULL)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot join the file that %s wrote to its descriptor: it is not a capture (%s). "
          "Programs write one with sysprof_capture_writer_new_from_env() or _from_fd().",
          who, g_strerror (errno));
      return NULL;
    }
  /* The process may still be writing; without this limit the join might never end. */
  sysprof_capture_reader_set_end (reader, (uint64_t) info.st_size);

  join = sysprof_capture_join_begin (context->writer, reader);
  sysprof_capture_reader_unref (reader);
  if (join == NULL)
    {
      set_join_error (who, error);
      return NULL;
    }

  n_cut = sysprof_capture_join_get_n_cut (join);
  if (n_cut > 0)
    sysprof_context_report (
        context, domain, false,
        "%" G_GUINT64_FORMAT " frames of %s are longer than 16384 bytes, the limit of some "
        "readers: their texts are truncated, and D-Bus messages have no content. Let the "
        "program write shorter frames.",
        n_cut, who);
  return join;
}

bool
sysprof_joined_capture_finish (SysprofCaptureJoin *join, const char *who, GError **error)
{
  if (join == NULL || sysprof_capture_join_finish (join))
    return true;

  set_join_error (who, error);
  return false;
}
