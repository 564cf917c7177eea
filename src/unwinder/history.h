// SPDX-License-Identifier: GPL-3.0-or-later

/* The recent events of all processes, kept in the order in which they came. Lookups are rare
 * and slow, so that adding an event is cheap. *Owned* by the code that embeds it. */

#pragma once

#include "perf/perf.h"

#include <glib.h>

typedef struct
{
  GArray *events[2];  /* of TaskEvent: the current generation, then the older one */
  int64_t begin_usec; /* start of the current generation */
} History;

void sysprof_history_init (History *self);
void sysprof_history_clear (History *self);

/* Keeps the event for one to two seconds, or for less if there are very many events. Of the
 * path it keeps only whether it is the vDSO's. `now` in microseconds. */
void sysprof_history_add (History *self, const TaskEvent *event, int64_t now);

void sysprof_history_forget (History *self);

/* Stores the events of `pid`, including its fork, in the order of time into `found` (of
 * TaskEvent). */
void sysprof_history_find (const History *self, int32_t pid, GArray *found);
