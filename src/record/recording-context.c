// SPDX-License-Identifier: GPL-3.0-or-later

/* The requests of instruments (see recording-context.h): they report, count losses, and use the
 * output of the recording. */

#include "record/recording-context.h"

#include "record/clock.h"
#include "record/recording-thread-private.h"
#include "util/util.h"

#include <errno.h>

static RecordingThread *
thread_of (RecordingContext *self)
{
  return (RecordingThread *) self; /* its first member */
}

void
sysprof_context_fail (RecordingContext *self, GError *error)
{
  RecordingThread *thread = thread_of (self);

  pthread_mutex_lock (&thread->lock);
  if (thread->error == NULL)
    thread->error = g_steal_pointer (&error);
  pthread_mutex_unlock (&thread->lock);
  g_clear_error (&error);

  sysprof_pump_request_stop (self->pump);
}

/* A diagnostic or a missing feature, queued for the capture. */
typedef struct
{
  char *name; /* the domain, or the key of the metadata */
  char *text;
  bool is_fatal;
} Note;

static void
free_note (Note *note)
{
  g_free (note->name);
  g_free (note->text);
  g_free (note);
}

static void
queue_note (RecordingContext *self, PumpFunc write, char *name, const char *text, bool is_fatal)
{
  Note *note = g_new (Note, 1);

  *note = (Note){ name, g_strdup (text), is_fatal };
  if (!sysprof_pump_invoke (self->pump, write, note))
    free_note (note);
}

static void
write_report (RecordingContext *self, void *data)
{
  Note *report = data;

  /* The user has seen a diagnostic even if it does not fit into the capture. */
  (void) sysprof_capture_writer_add_log (self->writer, sysprof_clock_now (), -1, -1,
                                         report->is_fatal ? G_LOG_LEVEL_CRITICAL
                                                          : G_LOG_LEVEL_WARNING,
                                         report->name, report->text);
  free_note (report);
}

void
sysprof_context_report (RecordingContext *self,
                        const char *domain,
                        bool fatal,
                        const char *format,
                        ...)
{
  RecordingThread *thread = thread_of (self);
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);

  thread->events.diagnostic (thread->events_data, domain, message, fatal);

  if (fatal)
    sysprof_context_fail (self,
                          g_error_new_literal (SYSPROF_ERROR, SYSPROF_ERROR_FAILED, message));
  queue_note (self, write_report, g_strdup (domain), message, fatal);
}

static void
write_missing_feature (RecordingContext *self, void *data)
{
  Note *missing = data;

  /* The writer reports a full disk at its next flush. */
  (void) sysprof_capture_writer_add_metadata (self->writer, sysprof_clock_now (), -1, -1,
                                              missing->name, missing->text, -1);
  free_note (missing);
}

/* The call is queued until the recording starts, because no frame may be older than the start
 * time. */
void
sysprof_context_note_missing (RecordingContext *self, const char *name, const char *reason)
{
  queue_note (self, write_missing_feature, g_strdup_printf ("org.gnome.sysprof.lacks.%s", name),
              reason, false);
}

void
sysprof_context_add_lost (RecordingContext *self, LossKind kind, uint64_t n)
{
  atomic_fetch_add_explicit (&thread_of (self)->status.n_lost[kind], n, memory_order_relaxed);
}

void
sysprof_context_add_throttled (RecordingContext *self, uint64_t n)
{
  atomic_fetch_add_explicit (&thread_of (self)->status.n_throttled, n, memory_order_relaxed);
}

SysprofCaptureWriter *
sysprof_context_get_tail_writer (RecordingContext *self, GError **error)
{
  RecordingThread *thread = thread_of (self);

  if (thread->tail_frames == NULL)
    thread->tail_frames = sysprof_tail_frames_new (error);
  return thread->tail_frames != NULL ? sysprof_tail_frames_get_writer (thread->tail_frames)
                                     : NULL;
}

bool
sysprof_context_has_tail_room (RecordingContext *self)
{
  RecordingThread *thread = thread_of (self);

  return thread->tail_frames == NULL || sysprof_tail_frames_has_room (thread->tail_frames);
}

bool
sysprof_context_is_congested (RecordingContext *self)
{
  return sysprof_output_is_congested (thread_of (self)->output);
}

static void
set_read_back_error (GError **error)
{
  g_set_error (
      error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
      "the recording cannot be read back (a recording to a pipe is also kept in '%s'): %s. "
      "Set TMPDIR to a directory with more space, or record to a file.",
      g_get_tmp_dir (), g_strerror (errno));
}

int
sysprof_context_dup_fd (RecordingContext *self, GError **error)
{
  Output *output = thread_of (self)->output;
  int fd;

  if (!sysprof_output_sync (output, error))
    return -1;

  fd = sysprof_output_dup_fd (output);
  if (fd < 0)
    set_read_back_error (error);
  return fd;
}

bool
sysprof_context_is_augment_skipped (RecordingContext *self)
{
  return g_cancellable_is_cancelled (self->augment_cancellable);
}
