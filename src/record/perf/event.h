// SPDX-License-Identifier: GPL-3.0-or-later

/* What is sampled on: the names that people write, and what the kernel calls them. */

#pragma once

#include "record/privilege.h"

#include <glib.h>

#define MOST_UNITS 4 /* kinds of CPUs in one machine */

/* What an event is for one kind of CPUs. */
typedef struct
{
  uint32_t type;
  uint64_t config;
  char cpus[256]; /* that have it, "0-15"; "" = all */
} PerfUnit;

typedef struct
{
  uint32_t type;   /* perf_event_attr.type */
  uint64_t config; /* perf_event_attr.config */
  uint64_t period; /* fixed period; 0 = by frequency */
  bool is_clock;   /* counts nanoseconds: its period is a time */
  char name[64];   /* for messages */
  PerfUnit units
      [MOST_UNITS]; /* [n_units] it differs by the kind of a CPU (pmu.h): `type` and `config` are those of the first */
  unsigned n_units; /* 0 = it does not */
} PerfEvent;

/* NAME[:PERIOD]. One colon followed by digits is a period; "group:name" is a tracepoint, "unit/name/" an event of one kind of CPUs. FALSE with `error`:
 * no such event, or its tracepoint cannot be looked up. */
bool sysprof_perf_event_parse (PerfEvent *self,
                               const char *text,
                               Privilege *privilege,
                               GError **error);

/* What `self` is on `cpu`, without units. FALSE where that CPU does not count it. */
bool sysprof_perf_event_for_cpu (const PerfEvent *self, int cpu, PerfEvent *there);

/* The events that have names, one after the other, whether or not this machine has them; FALSE behind the last. */
bool sysprof_perf_event_nth (unsigned i, PerfEvent *event);

/* What a sample of it weighs, where the kernel takes `frequency` of them per second; 0 = each has a period of its own. */
uint64_t sysprof_perf_event_get_period (const PerfEvent *self, uint64_t frequency);

/* The events that are tried when none was asked for. */
void sysprof_perf_event_init_cycles (PerfEvent *self);
void sysprof_perf_event_init_cpu_clock (PerfEvent *self);
