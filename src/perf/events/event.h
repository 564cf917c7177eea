// SPDX-License-Identifier: GPL-3.0-or-later

/* Events to sample on: parses the names that users write, and finds the kernel's numbers for
 * them. */

#pragma once

#include "access/access.h"

#include <glib.h>

#define MOST_UNITS 4 /* kinds of CPUs in one machine */

/* The event's numbers for one kind of CPU. */
typedef struct
{
  uint32_t type;
  uint64_t config;
  char cpus[256]; /* CPUs of this kind, as "0-15"; "" = all */
} PerfUnit;

typedef struct
{
  uint32_t type;   /* perf_event_attr.type */
  uint64_t config; /* perf_event_attr.config */
  uint64_t period; /* fixed period; 0 = the kernel adjusts it to the frequency */
  bool is_clock;   /* counts nanoseconds, so the period is a time */
  char name[64];   /* for messages */
  /* [n_units] The event's numbers for each kind of CPU (pmu.h); `type` and `config` are those
   * of the first. */
  PerfUnit units[MOST_UNITS];
  unsigned n_units; /* 0 = the same numbers on all CPUs */
} PerfEvent;

/* Parses NAME[:PERIOD]. A colon followed by digits starts a period; "group:name" is a
 * tracepoint, and "unit/name/" an event of one kind of CPU. Returns FALSE with `error`: there
 * is no such event, or its tracepoint cannot be looked up. */
bool sysprof_perf_event_parse (PerfEvent *self,
                               const char *text,
                               Privilege *privilege,
                               GError **error);

/* Stores in `there` the event as it must be opened on `cpu`, without units. FALSE: that CPU
 * cannot count the event. */
bool sysprof_perf_event_for_cpu (const PerfEvent *self, int cpu, PerfEvent *there);

/* Enumerates the events with names, including those that this machine does not support. FALSE:
 * `i` is after the last. */
bool sysprof_perf_event_nth (unsigned i, PerfEvent *event);

/* The period of each sample if the kernel takes `frequency` samples per second; 0 = the period
 * varies. */
uint64_t sysprof_perf_event_get_period (const PerfEvent *self, uint64_t frequency);

/* The events to try if the user has named none. */
void sysprof_perf_event_init_cycles (PerfEvent *self);
void sysprof_perf_event_init_cpu_clock (PerfEvent *self);
