// SPDX-License-Identifier: GPL-3.0-or-later

/* The common part of the sampler and the process watcher: a perf session that the pump drains.
 * *Owned* by the pump thread. */

#pragma once

#include "perf/perf.h"
#include "record/recording-context.h"

typedef struct
{
  RecordingContext *context;
  PerfSession *session; /* NULL = none */
  LossKind sample_kind; /* the kind of loss to report for lost samples */
  uint64_t kernel_lost; /* the decoder's n_kernel_lost when `losses` was read */
  PerfLosses losses;    /* in the rings */
  uint64_t told_samples;
  uint64_t told_records;
  uint64_t told_throttled;
} EventFeed;

/* Takes ownership of `session`. From now on the pump drains its rings and counts its losses.
 * Call it in *prepare*. */
void sysprof_event_feed_start (EventFeed *self,
                               RecordingContext *context,
                               PerfSession *session,
                               LossKind sample_kind);

/* Disables the events and drains the rings. */
void sysprof_event_feed_drain (EventFeed *self);
/* Does the same and closes the session. */
void sysprof_event_feed_stop (EventFeed *self);
