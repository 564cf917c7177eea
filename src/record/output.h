// SPDX-License-Identifier: GPL-3.0-or-later

/* Where a recording goes: the writer's full buffers are handed to the flush thread, which only writes.
 *
 * The writer fills one buffer. When it is full, or once a second, it goes into the queue of the flush thread and
 * an empty one takes its place. The number of buffers is bounded: when all are on their way to a disk that
 * stalls, the writer refuses frames (and the pump counts them); it never waits.
 *
 * All functions are for the pump thread. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

typedef struct Output Output;

/* On the flush thread, once, when a write failed. */
typedef void (*OutputFailedFunc) (void *data);

/* Takes over `writer` (referenced). `keep_copy`: where the file cannot be read back (a pipe), an unlinked copy is
 * kept beside it. */
Output *sysprof_output_new (SysprofCaptureWriter *writer,
                            bool keep_copy,
                            OutputFailedFunc failed,
                            void *data,
                            GError **error);

/* More than three quarters of the buffers wait for the disk. */
bool sysprof_output_is_congested (Output *self);

/* Hands over what the writer holds. Does not wait. */
void sysprof_output_flush (Output *self);

/* Hands over, and waits until everything is written. */
bool sysprof_output_sync (Output *self, GError **error);

/* A descriptor to read the recording with; -1 with errno. The caller closes it. */
int sysprof_output_dup_fd (Output *self);

/* From now on a full queue makes the writer wait: the recording has stopped, and what is added now is to be whole. */
void sysprof_output_set_patient (Output *self);

/* Writes what is left and the times into the file's header; the writer is the caller's again. FALSE with `error`
 * when any write of the recording failed. */
bool sysprof_output_finish (Output *self, int64_t begin, int64_t end, GError **error);

void sysprof_output_free (Output *self);
