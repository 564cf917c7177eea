// SPDX-License-Identifier: GPL-3.0-or-later

/* Records the event and the period of each sample, for which a sample frame has no members. The
 * ledger writes chunks of the embedded file CAPTURE_PERIODS_FILE during the recording, so that
 * its memory stays bounded.
 *
 * *Owned* by the pump thread. */

#pragma once

#include "perf/events/event.h"

#include <sysprof-capture.h>

#define MOST_EVENTS 32 /* per recording */

typedef struct EventLedger EventLedger;

EventLedger *sysprof_event_ledger_new (void);
void sysprof_event_ledger_free (EventLedger *self);

/* Samples with the kernel's `id` belong to the event with that index. */
void sysprof_event_ledger_add_id (EventLedger *self, uint64_t id, unsigned event);

/* Finds the event of samples with `id`. FALSE: there is none. */
bool sysprof_event_ledger_find (const EventLedger *self, uint64_t id, unsigned *event);

/* Notes one sample. FALSE: no event has `id`, or there is no room in `writer`. */
bool sysprof_event_ledger_note (EventLedger *self,
                                SysprofCaptureWriter *writer,
                                uint64_t id,
                                int64_t time,
                                int32_t tid,
                                uint64_t period);
/* Writes the last chunk, at `time` (ns). FALSE: there is no room in `writer`. */
bool
sysprof_event_ledger_finish (EventLedger *self, SysprofCaptureWriter *writer, int64_t time);
