// SPDX-License-Identifier: GPL-3.0-or-later

/* Which events this machine has, for who asked for one that it lacks. */

#pragma once

#include "record/privilege.h"

#include <glib.h>

/* "This machine has cpu-clock, …; and tracepoints of the groups block, …". *(full)* */
char *sysprof_perf_events_describe (Privilege *privilege);

/* "Of its group there are …", "There are the groups …": of the tracepoint GROUP:NAME, which there is not, with what was perhaps meant.
 * "" where tracefs cannot be read. *(full)* */
char *sysprof_perf_tracepoints_describe (Privilege *privilege, const char *name);
