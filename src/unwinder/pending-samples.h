// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples whose unwinding stopped because a mapping or a table was missing. They carry a copy
 * of the rest of their stack and wait until the missing part is published; then they are
 * unwound to their end. They pass from the pump's thread to the unwinder's thread and back. */

#pragma once

#include "perf/perf.h"
#include "unwinder/processes.h"

typedef struct PendingSamples PendingSamples;

/* Continues from the last address of `sample` through the stack copy, with the process that is
 * published as `walk_as`. Stores all addresses in `addresses` [WALK_MOST_ADDRESSES], which
 * `sample` then points to. */
void sysprof_walked_sample_finish (WalkedSample *sample,
                                   uint32_t walk_as,
                                   const UnwindMemory *memory,
                                   uint64_t *addresses);

typedef struct
{
  uint64_t n_taken;
  uint64_t n_finished; /* of these, unwound to their end */
  uint64_t n_refused;  /* because too many were pending */
} PendingStatus;

PendingSamples *sysprof_pending_samples_new (void);
void sysprof_pending_samples_free (PendingSamples *self);

/* May be called from any thread. FALSE: too many samples are pending. */
bool sysprof_pending_samples_add (PendingSamples *self, const WalkedSample *sample);
/* On the pump's thread: writes the samples that are done. */
void sysprof_pending_samples_write (PendingSamples *self, PerfDecoder *decoder);

typedef enum
{
  PENDING_WAIT,       /* the list of processes is incomplete: wait */
  PENDING_BE_PATIENT, /* wait, with timeouts */
  PENDING_WALK_ALL,   /* unwind all now, as far as possible */
} PendingPatience;

/* On the unwinder's thread: unwinds the samples that can be unwound, of those taken before
 * `events_until` (ns). TRUE: some are still pending. */
bool sysprof_pending_samples_walk (PendingSamples *self,
                                   CodeProcesses *processes,
                                   const UnwindMemory *memory,
                                   PendingPatience patience,
                                   int64_t events_until);

/* Call it only while no other thread uses it. */
PendingStatus sysprof_pending_samples_get_status (const PendingSamples *self);
