// SPDX-License-Identifier: GPL-3.0-or-later

/* What the sampler and the process watcher have in common: a session whose rings the pump drains. *Owned* by the
 * pump thread. */

#pragma once

#include "record/perf/session.h"
#include "record/pump.h"

typedef struct
{
  Pump *pump;
  PerfSession *session; /* NULL = none */
  LossKind sample_kind; /* what a lost sample of the session counts as */
  uint64_t kernel_lost; /* n_kernel_lost of the decoder when `losses` was read */
  PerfLosses losses;    /* in the rings */
  uint64_t told_samples;
  uint64_t told_records;
  uint64_t told_throttled;
} EventFeed;

/* Takes `session`: from now on its rings are drained and its losses counted. Call in *prepare*. */
void sysprof_event_feed_start (EventFeed *self,
                               Pump *pump,
                               PerfSession *session,
                               LossKind sample_kind);

/* Everything off, and the rest drained. */
void sysprof_event_feed_drain (EventFeed *self);
/* The same, and all closed. */
void sysprof_event_feed_stop (EventFeed *self);
