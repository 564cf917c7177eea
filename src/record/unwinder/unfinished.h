// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples whose unwinding stopped because a mapping or a table was missing. They carry a copy
 * of the rest of their stack and wait until the missing part is published; then they are
 * unwound to their end. They pass from the pump's thread to the unwinder's thread and back. */

#pragma once

#include "record/perf/decode.h"
#include "record/unwinder/processes.h"

typedef struct UnfinishedSamples UnfinishedSamples;

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
} UnfinishedStatus;

UnfinishedSamples *sysprof_unfinished_samples_new (void);
void sysprof_unfinished_samples_free (UnfinishedSamples *self);

/* May be called from any thread. FALSE: too many samples are pending. */
bool sysprof_unfinished_samples_add (UnfinishedSamples *self, const WalkedSample *sample);
/* On the pump's thread: writes the samples that are done. */
void sysprof_unfinished_samples_write (UnfinishedSamples *self, PerfDecoder *decoder);

typedef enum
{
  UNFINISHED_WAIT,       /* the list of processes is incomplete: wait */
  UNFINISHED_BE_PATIENT, /* wait, with timeouts */
  UNFINISHED_WALK_ALL,   /* unwind all now, as far as possible */
} UnfinishedPatience;

/* On the unwinder's thread: unwinds the samples that can be unwound, of those taken before
 * `told_until` (ns). TRUE: some are still pending. */
bool sysprof_unfinished_samples_walk (UnfinishedSamples *self,
                                      CodeProcesses *processes,
                                      const UnwindMemory *memory,
                                      UnfinishedPatience patience,
                                      int64_t told_until);

/* Call it only while no other thread uses it. */
UnfinishedStatus sysprof_unfinished_samples_get_status (const UnfinishedSamples *self);
