// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples that came with a copy of their stack: workers walk them while the recording runs, so that no copy is kept.
 *
 *   pump ──► batch ──► unwinder: applies what happened before ──► workers ──► pump, addresses only
 *
 * A sample that must wait for a table goes on as an unfinished one. Batches are few; with none free, samples are refused, and
 * nobody waits. */

#pragma once

#include "record/unwinder/unfinished.h"

typedef struct CopiedSamples CopiedSamples;

typedef struct
{
  uint64_t n_taken;
  uint64_t n_refused;   /* as too many waited */
  uint64_t n_handed_on; /* to the unfinished */
  int64_t cpu_nsec;     /* of the workers */
} CopiedStatus;

/* All borrowed. `wake_fd`, an eventfd, is written when sysprof_copied_samples_hold() has something to take. NULL with
 * `error` where no thread can be started. */
CopiedSamples *sysprof_copied_samples_new (const CodeProcesses *processes,
                                           const UnwindMemory *memory,
                                           UnfinishedSamples *unfinished,
                                           int wake_fd,
                                           GError **error);
/* Ends the workers if they run. */
void sysprof_copied_samples_free (CopiedSamples *self);

/* --- on the pump's thread --- */

/* FALSE: too much waits already. */
bool sysprof_copied_samples_add (CopiedSamples *self, const WalkedSample *sample);
/* Sends off what was added since. */
void sysprof_copied_samples_send (CopiedSamples *self);
/* Writes those that are walked. */
void sysprof_copied_samples_write (CopiedSamples *self, PerfDecoder *decoder);

/* --- on the unwinder's thread --- */

/* Until sysprof_copied_samples_go_on() nobody walks, and processes and tables may change. What has been sent until now is
 * walked only then. */
void sysprof_copied_samples_hold (CopiedSamples *self);
void sysprof_copied_samples_go_on (CopiedSamples *self);
/* Until all is walked; ends the workers. */
void sysprof_copied_samples_finish (CopiedSamples *self);

/* When nobody works on it. */
CopiedStatus sysprof_copied_samples_get_status (const CopiedSamples *self);
