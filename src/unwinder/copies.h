// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples that carry a copy of their stack. Worker threads unwind the copies while the
 * recording runs, so that no copy is stored.
 *
 *   pump ──► batch ──► unwinder: applies earlier events ──► workers ──► pump, addresses only
 *
 * A sample that needs a table which is not built yet becomes a pending sample. The number
 * of batches is limited. If no batch is free, the sample is refused; the pump never waits. */

#pragma once

#include "unwinder/pending-samples.h"

typedef struct CopiedSamples CopiedSamples;

typedef struct
{
  uint64_t n_taken;
  uint64_t n_refused;   /* because too many were pending */
  uint64_t n_handed_on; /* became pending samples */
  int64_t cpu_nsec;     /* of the workers */
} CopiedStatus;

/* All arguments are borrowed. `wake_fd`, an eventfd, is written when
 * sysprof_copied_samples_hold() has work. Returns NULL with `error` if no thread can be
 * started. */
CopiedSamples *sysprof_copied_samples_new (const CodeProcesses *processes,
                                           const UnwindMemory *memory,
                                           PendingSamples *pending,
                                           int wake_fd,
                                           GError **error);
/* Ends the workers if they run. */
void sysprof_copied_samples_free (CopiedSamples *self);

/* --- on the pump's thread --- */

/* FALSE: too many samples are pending. */
bool sysprof_copied_samples_add (CopiedSamples *self, const WalkedSample *sample);
/* Sends the samples that were added since the last call. */
void sysprof_copied_samples_send (CopiedSamples *self);
/* Writes the samples that are unwound. */
void sysprof_copied_samples_write (CopiedSamples *self, PerfDecoder *decoder);

/* --- on the unwinder's thread --- */

/* Stops the workers between two samples, so that processes and tables may change until
 * sysprof_copied_samples_go_on(). The batches that have been sent so far are unwound only after
 * that call. */
void sysprof_copied_samples_hold (CopiedSamples *self);
void sysprof_copied_samples_go_on (CopiedSamples *self);
/* Waits until all batches are unwound and ends the workers. */
void sysprof_copied_samples_finish (CopiedSamples *self);

/* Call it only while no worker runs. */
CopiedStatus sysprof_copied_samples_get_status (const CopiedSamples *self);
