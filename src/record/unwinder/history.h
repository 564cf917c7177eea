// SPDX-License-Identifier: GPL-3.0-or-later

/* What processes did a moment ago, as it came: to be asked rarely, and to cost next to nothing until then. *Owned* by who
 * holds it. */

#pragma once

#include "record/perf/task-events.h"

#include <glib.h>

typedef struct
{
  GArray *events[2];  /* of TaskEvent: the younger ones first */
  int64_t begin_usec; /* of the younger ones */
} History;

void sysprof_history_init (History *self);
void sysprof_history_clear (History *self);

/* Keeps it for a while: two seconds at most, one at least unless there are very many. Of the path nothing is kept but whether
 * it is that of the vDSO. `now` in microseconds. */
void sysprof_history_add (History *self, const TaskEvent *event, int64_t now);

void sysprof_history_forget (History *self);

/* What `pid` did, and who forked it, in the order of time, into `found` (of TaskEvent). */
void sysprof_history_find (const History *self, int32_t pid, GArray *found);
