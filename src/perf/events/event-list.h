// SPDX-License-Identifier: GPL-3.0-or-later

/* Describes the events and tracepoints of this machine, for error messages about an event that
 * it does not have. */

#pragma once

#include "access/access.h"

#include <glib.h>

/* Returns "This machine has cpu-clock, …; and tracepoints, as GROUP:NAME, of the groups block,
 * …". *(full)* */
char *sysprof_perf_events_describe (Privilege *privilege);

/* For a missing tracepoint GROUP:NAME: returns "Its group has …" or "There are the groups …",
 * after a suggestion of a similar name. Returns "" if tracefs cannot be read. *(full)* */
char *sysprof_perf_tracepoints_describe (Privilege *privilege, const char *name);
