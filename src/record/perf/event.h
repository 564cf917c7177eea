// SPDX-License-Identifier: GPL-3.0-or-later

/* What is sampled on: the names that people write, and what the kernel calls them. */

#pragma once

#include "record/privilege.h"

#include <glib.h>

typedef struct
{
  uint32_t type;   /* perf_event_attr.type */
  uint64_t config; /* perf_event_attr.config */
  uint64_t period; /* fixed period; 0 = by frequency */
  bool is_clock;   /* counts nanoseconds: its period is a time */
  char name[64];   /* for messages */
} PerfEvent;

/* NAME[:PERIOD]. One colon followed by digits is a period; "group:name" is a tracepoint. FALSE with `error`:
 * no such event, or its tracepoint cannot be looked up. */
bool sysprof_perf_event_parse (PerfEvent *self,
                               const char *text,
                               Privilege *privilege,
                               GError **error);

/* The events that have names, one after the other, whether or not this machine has them; FALSE behind the last. */
bool sysprof_perf_event_nth (unsigned i, PerfEvent *event);

/* What a sample of it weighs, where the kernel takes `frequency` of them per second; 0 = each has a period of its own. */
uint64_t sysprof_perf_event_get_period (const PerfEvent *self, uint64_t frequency);

/* The events that are tried when none was asked for. */
void sysprof_perf_event_init_cycles (PerfEvent *self);
void sysprof_perf_event_init_cpu_clock (PerfEvent *self);
