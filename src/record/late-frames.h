// SPDX-License-Identifier: GPL-3.0-or-later

/* Frames at which readers of version 3.46 stop (traces, D-Bus messages): they wait in a file without a name until
 * everything else of the recording is written, and then stand behind it. Who dies before loses them, and only them.
 *
 * All functions are for the pump thread. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

typedef struct LateFrames LateFrames;

/* NULL with `error` where no temporary file can be had. */
LateFrames *sysprof_late_frames_new (GError **error);
void sysprof_late_frames_free (LateFrames *self);

/* Where they are added; borrowed. It refuses frames while the disk is behind, as the recording's own does. */
SysprofCaptureWriter *sysprof_late_frames_get_writer (LateFrames *self);
uint64_t sysprof_late_frames_get_size (LateFrames *self); /* bytes */
uint64_t sysprof_late_frames_get_n_frames (LateFrames *self);
/* FALSE once it holds a quarter of what was free where it lies. */
bool sysprof_late_frames_has_room (LateFrames *self);

/* Once a second. Does not wait. */
void sysprof_late_frames_flush (LateFrames *self);

/* Adds them to `writer`; no more are added then. The number of those that were lost, by the temporary file or by
 * `writer`; `error` says why when there are any. */
uint64_t
sysprof_late_frames_append_to (LateFrames *self, SysprofCaptureWriter *writer, GError **error);
