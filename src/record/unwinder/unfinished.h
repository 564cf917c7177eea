// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples whose walk ended because a mapping or a table was not there yet: with a copy of the rest of their stack they wait
 * until it is, and are walked to their end. They pass from the pump's thread to the unwinder's and back. */

#pragma once

#include "record/perf/decode.h"
#include "record/unwinder/processes.h"

typedef struct UnfinishedSamples UnfinishedSamples;

/* Walks on from where `sample` ended, through the copy, with what is published under `walk_as`: `addresses` becomes [WALK_MOST_ADDRESSES] what was found before and
 * now, and the sample's. */
void sysprof_walked_sample_finish (WalkedSample *sample,
                                   uint32_t walk_as,
                                   const UnwindMemory *memory,
                                   uint64_t *addresses);

typedef struct
{
  uint64_t n_taken;
  uint64_t n_finished; /* of these, to their end */
  uint64_t n_refused;  /* as too many waited */
} UnfinishedStatus;

UnfinishedSamples *sysprof_unfinished_samples_new (void);
void sysprof_unfinished_samples_free (UnfinishedSamples *self);

/* From any thread. FALSE: too much waits already. */
bool sysprof_unfinished_samples_add (UnfinishedSamples *self, const WalkedSample *sample);
/* On the pump's thread: writes those that are done. */
void sysprof_unfinished_samples_write (UnfinishedSamples *self, PerfDecoder *decoder);

typedef enum
{
  UNFINISHED_WAIT,       /* not all processes are known yet */
  UNFINISHED_BE_PATIENT, /* for a while */
  UNFINISHED_WALK_ALL,   /* that there are, for better or worse */
} UnfinishedPatience;

/* On the unwinder's thread: walks what can be walked now, of those taken before `told_until` (ns). TRUE: some wait on. */
bool sysprof_unfinished_samples_walk (UnfinishedSamples *self,
                                      CodeProcesses *processes,
                                      const UnwindMemory *memory,
                                      UnfinishedPatience patience,
                                      int64_t told_until);

/* When nobody works on it. */
UnfinishedStatus sysprof_unfinished_samples_get_status (const UnfinishedSamples *self);
