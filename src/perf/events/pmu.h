// SPDX-License-Identifier: GPL-3.0-or-later

/* The performance monitoring units (PMUs) of the CPUs, and the events that sysfs lists for
 * each.
 *
 * A machine with several kinds of CPUs has one unit for each kind: cpu_core and cpu_atom on
 * x86, one per kind of core on ARM. An event that only sysfs lists is opened with the type
 * number of its unit, on the CPUs of that unit. Generic events (cycles, instructions …) do not
 * need this: when they are opened for one CPU, the kernel selects that CPU's unit.
 *
 * Source: Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices-events and
 * -format. */

#pragma once

#include "perf/events/event.h"

/* Finds an event by NAME in all units that have it, by UNIT/NAME/ in that unit, or by
 * UNIT/TERM=VALUE,…/ with terms of the unit's format. Sets the name and units of `self`, and
 * keeps its period. Returns FALSE, without an error, if no unit has the event. */
bool sysprof_pmu_find_event (PerfEvent *self, const char *name, Privilege *privilege);

/* Appends "; of the CPUs' unit UNIT, as UNIT/NAME/, …" for each unit that lists events. */
void sysprof_pmu_append_events (GString *text, Privilege *privilege);
