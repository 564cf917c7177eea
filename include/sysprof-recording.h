// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofRecording: a recording, running or finished. */

#pragma once

#include <gio/gio.h>

#include "sysprof-capture.h"
#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_RECORDING (sysprof_recording_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofRecording, sysprof_recording, SYSPROF, RECORDING, GObject)

/* A GListModel of SysprofDiagnostic that grows while recording. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GListModel *sysprof_recording_list_diagnostics (SysprofRecording *self);

/* Microseconds since the start of the recording; 0 before it, and constant after the end.
 * Property "duration", notified once a second. */
SYSPROF_AVAILABLE_IN_ALL
gint64 sysprof_recording_get_duration (SysprofRecording *self);

/* Frames written so far, of all types. Property "event-count". */
SYSPROF_AVAILABLE_IN_ALL
guint64 sysprof_recording_get_event_count (SysprofRecording *self);

/* The program that was started. *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
GSubprocess *sysprof_recording_get_subprocess (SysprofRecording *self);

/* Completes when everything is written, symbols included. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_recording_wait_async (SysprofRecording *self,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);

/* Returns FALSE with `error` set if the recording could not start, if its program failed, or if
 * not everything could be written. */
SYSPROF_AVAILABLE_IN_ALL
gboolean
sysprof_recording_wait_finish (SysprofRecording *self, GAsyncResult *result, GError **error);

/* Requests the end of the recording, and completes when the request was accepted.
 * sysprof_recording_wait_async() completes when the capture is complete. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_recording_stop_async (SysprofRecording *self,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);
/* Returns TRUE if the request was accepted. */
SYSPROF_AVAILABLE_IN_ALL
gboolean
sysprof_recording_stop_finish (SysprofRecording *self, GAsyncResult *result, GError **error);

/**
 * sysprof_recording_create_reader: (skip)
 * @self: a recording
 *
 * Writes all buffered frames and opens the capture for reading.
 *
 * Returns: (transfer full) (nullable): a reader; %NULL if it cannot be read (a pipe)
 */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_recording_create_reader (SysprofRecording *self);

/* Returns a new descriptor of the capture, which the caller closes; -1 on failure. */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_recording_dup_fd (SysprofRecording *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
