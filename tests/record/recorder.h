// SPDX-License-Identifier: GPL-3.0-or-later

/* Recordings for tests: made in a main loop, as programs make them, and waited for. */

#pragma once

#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct
{
  SysprofRecording *recording;
  GError *error; /* of wait */
  gboolean ended;
  /* Called in the main loop: as soon as there is a recording, and when it has begun. */
  void (*started) (SysprofRecording *recording, gpointer data);
  void (*began) (SysprofRecording *recording, gpointer data);
  gpointer data;
} Recorded;

G_GNUC_UNUSED static int
new_memory_file (void)
{
  int fd = memfd_create ("recording", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (fd, >=, 0);
  return fd;
}

G_GNUC_UNUSED static SysprofCaptureWriter *
new_writer_for (int fd)
{
  SysprofCaptureWriter *writer =
      sysprof_capture_writer_new_from_fd (fcntl (fd, F_DUPFD_CLOEXEC, 3), 0);

  g_assert_nonnull (writer);
  return writer;
}

static void
recording_ended (GObject *object, GAsyncResult *result, gpointer data)
{
  Recorded *recorded = data;

  (void) sysprof_recording_wait_finish (SYSPROF_RECORDING (object), result, &recorded->error);
  recorded->ended = TRUE;
}

static gboolean
call_when_begun (gpointer data)
{
  Recorded *recorded = data;

  if (sysprof_recording_get_duration (recorded->recording) == 0)
    return recorded->ended ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
  recorded->began (recorded->recording, recorded->data);
  return G_SOURCE_REMOVE;
}

static void
recording_began (GObject *object, GAsyncResult *result, gpointer data)
{
  Recorded *recorded = data;
  g_autoptr (GError) error = NULL;

  recorded->recording =
      sysprof_profiler_record_finish (SYSPROF_PROFILER (object), result, &error);
  g_assert_no_error (error);
  sysprof_recording_wait_async (recorded->recording, NULL, recording_ended, recorded);
  if (recorded->started != NULL)
    recorded->started (recorded->recording, recorded->data);
  if (recorded->began != NULL)
    (void) g_timeout_add (1, call_when_begun, recorded);
}

/* Takes `writer`. Runs the main context until the recording has ended. */
G_GNUC_UNUSED static void
record_and_wait (Recorded *recorded, SysprofProfiler *profiler, SysprofCaptureWriter *writer)
{
  sysprof_profiler_record_async (profiler, writer, NULL, recording_began, recorded);
  sysprof_capture_writer_unref (writer);
  while (!recorded->ended)
    g_main_context_iteration (NULL, TRUE);
}

G_GNUC_UNUSED static void
recorded_clear (Recorded *recorded)
{
  g_clear_object (&recorded->recording);
  g_clear_error (&recorded->error);
  *recorded = (Recorded){ 0 };
}

/* Whether some diagnostic contains `text`. */
G_GNUC_UNUSED static gboolean
recorded_has_told (Recorded *recorded, const char *text)
{
  g_autoptr (GListModel) diagnostics = sysprof_recording_list_diagnostics (recorded->recording);
  g_autoptr (GListModel) property = NULL;

  g_object_get (recorded->recording, "diagnostics", &property, NULL);
  g_assert_true (property == diagnostics);
  for (guint i = 0; i < g_list_model_get_n_items (diagnostics); i++)
    {
      g_autoptr (SysprofDiagnostic) diagnostic = g_list_model_get_item (diagnostics, i);

      if (strstr (sysprof_diagnostic_get_message (diagnostic), text) != NULL)
        return TRUE;
    }
  return FALSE;
}

G_GNUC_UNUSED static SysprofCaptureReader *
new_reader_for (int fd)
{
  char path[32];
  SysprofCaptureReader *reader;

  g_snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
  reader = sysprof_capture_reader_new (path);
  g_assert_nonnull (reader);
  return reader;
}

/* Returns the number of frames of a type, of a process or (0) of any. The reader is at its
 * beginning afterwards. */
G_GNUC_UNUSED static guint
count_frames (SysprofCaptureReader *reader, SysprofCaptureFrameType type, gint32 pid)
{
  SysprofCaptureFrame frame;
  guint n = 0;

  sysprof_capture_reader_reset (reader);
  while (sysprof_capture_reader_peek_frame (reader, &frame))
    {
      n += frame.type == type && (pid == 0 || frame.pid == pid);
      g_assert_true (sysprof_capture_reader_skip (reader));
    }
  sysprof_capture_reader_reset (reader);
  return n;
}
