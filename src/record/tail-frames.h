// SPDX-License-Identifier: GPL-3.0-or-later

/* Frames at which Sysprof 3.46 stops reading (traces, D-Bus messages). They are kept in an
 * unlinked file until all other frames of the recording are written, and are then appended. If
 * the recorder is killed before that, only these frames are lost.
 *
 * All functions are for the pump thread. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

typedef struct TailFrames TailFrames;

/* NULL with `error` if no temporary file can be made. */
TailFrames *sysprof_tail_frames_new (GError **error);
void sysprof_tail_frames_free (TailFrames *self);

/* The writer to add them with; borrowed. It rejects frames while the disk is behind, as the
 * writer of the recording does. */
SysprofCaptureWriter *sysprof_tail_frames_get_writer (TailFrames *self);
uint64_t sysprof_tail_frames_get_size (TailFrames *self); /* bytes */
uint64_t sysprof_tail_frames_get_n_frames (TailFrames *self);
/* FALSE once the file uses a quarter of the space that was free in its file system. */
bool sysprof_tail_frames_has_room (TailFrames *self);

/* Call this once a second. Does not wait. */
void sysprof_tail_frames_flush (TailFrames *self);

/* Appends the frames to `writer`; add no more afterwards. Returns the number of frames that the
 * temporary file or `writer` lost; `error` has the reason if there are any. */
uint64_t
sysprof_tail_frames_append_to (TailFrames *self, SysprofCaptureWriter *writer, GError **error);
