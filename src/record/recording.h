// SPDX-License-Identifier: GPL-3.0-or-later

/* How the profiler makes a recording. */

#pragma once

#include "record/pump.h"

/* Starts at once. Never NULL: what goes wrong is the error of sysprof_recording_wait_finish(). The recording tells
 * its news on the calling thread's default main context. *(full)* */
SysprofRecording *sysprof_recording_start (SysprofCaptureWriter *writer,
                                           const PumpOptions *options,
                                           GCancellable *cancellable);
