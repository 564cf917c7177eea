// SPDX-License-Identifier: GPL-3.0-or-later

/* The units of the CPUs that count (PMUs), and the events that the kernel names for each.
 *
 * A machine with CPUs of several kinds has one for each kind: cpu_core and cpu_atom, or one per kind of ARM's cores. An event that
 * only the kernel's list in sysfs has is opened with the number of its unit, on the CPUs that have that. The events that all
 * machines have a name for (cycles, instructions …) need none of it: opened for one CPU, the kernel takes the unit of that.
 *
 * Source: Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices-events and -format. */

#pragma once

#include "record/perf/event.h"

/* NAME of all units that have it, UNIT/NAME/ of that unit, or UNIT/TERM=VALUE,…/ with terms of its format. `self` gets its name and
 * its units; its period stays. FALSE, without error, where no unit has it. */
bool sysprof_pmu_find_event (PerfEvent *self, const char *name, Privilege *privilege);

/* Appends "; of cpu_core, as cpu_core/NAME/: …" for each unit with names of its own. */
void sysprof_pmu_append_events (GString *text, Privilege *privilege);
