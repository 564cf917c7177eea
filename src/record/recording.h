// SPDX-License-Identifier: GPL-3.0-or-later

/* Lets the profiler create a recording. */

#pragma once

#include "record/recording-thread.h"

/* Starts recording at once. Never returns NULL: sysprof_recording_wait_finish() reports errors.
 * Events arrive on the calling thread's default main context. *(full)* */
SysprofRecording *sysprof_recording_start (SysprofCaptureWriter *writer,
                                           const RecordingOptions *options,
                                           GCancellable *cancellable);
