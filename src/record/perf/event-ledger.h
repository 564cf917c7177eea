// SPDX-License-Identifier: GPL-3.0-or-later

/* Which event each sample is of, and its period: what a frame of a sample has no room for. It goes to the capture while we record, as
 * chunks of the embedded file CAPTURE_PERIODS_FILE, so that a long recording needs no memory for it.
 *
 * *Owned* by the pump thread. */

#pragma once

#include "record/perf/event.h"

#include <sysprof-capture.h>

#define MOST_EVENTS 32 /* of one recording */

typedef struct EventLedger EventLedger;

EventLedger *sysprof_event_ledger_new (void);
void sysprof_event_ledger_free (EventLedger *self);

/* Samples with `id`, the kernel's, are of the event with that index. */
void sysprof_event_ledger_add_id (EventLedger *self, uint64_t id, unsigned event);

/* Of which event samples with `id` are. FALSE: there is none with it. */
bool sysprof_event_ledger_find (const EventLedger *self, uint64_t id, unsigned *event);

/* FALSE: there is no event with `id`, or no room in `writer`. */
bool sysprof_event_ledger_note (EventLedger *self,
                                SysprofCaptureWriter *writer,
                                uint64_t id,
                                int64_t time,
                                int32_t tid,
                                uint64_t period);
/* The last chunk, at `time` (ns). FALSE: there is no room in `writer`. */
bool
sysprof_event_ledger_finish (EventLedger *self, SysprofCaptureWriter *writer, int64_t time);
