// SPDX-License-Identifier: GPL-3.0-or-later

/* The output of a recording: the pump thread fills buffers, and the flush thread writes them to
 * the file.
 *
 * The writer fills one buffer. When it is full, or once a second, it goes into the queue of the
 * flush thread, and the writer continues with an empty one. The number of buffers is bounded.
 * When all are queued because the disk stalls, the writer rejects frames, and the pump counts
 * them as lost; the writer never waits.
 *
 * All functions are for the pump thread. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

typedef struct Output Output;

/* Called on the flush thread, once, when a write fails. */
typedef void (*OutputFailedFunc) (void *data);

/* References `writer` and takes control of it. With `keep_copy`, a recording that cannot be
 * read back (a pipe) also goes to an unlinked temporary file. */
Output *sysprof_output_new (SysprofCaptureWriter *writer,
                            bool keep_copy,
                            OutputFailedFunc failed,
                            void *data,
                            GError **error);

/* More than three quarters of the buffers are queued. */
bool sysprof_output_is_congested (Output *self);

/* Queues what the writer has buffered. Does not wait. */
void sysprof_output_flush (Output *self);

/* Queues what the writer has buffered, and waits until everything is written. */
bool sysprof_output_sync (Output *self, GError **error);

/* Returns a descriptor for reading the recording, which the caller closes; -1 with errno. */
int sysprof_output_dup_fd (Output *self);

/* From now on a full queue makes the writer wait. Call this when the recording has stopped:
 * what is added then must not be dropped. */
void sysprof_output_set_patient (Output *self);

/* Writes the remaining frames, and the times into the file header. Afterwards the caller
 * controls the writer again. FALSE with `error` if any write of the recording failed. */
bool sysprof_output_finish (Output *self, int64_t begin, int64_t end, GError **error);

void sysprof_output_free (Output *self);
