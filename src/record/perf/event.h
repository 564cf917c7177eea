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

/* The events that are tried when none was asked for. */
void sysprof_perf_event_init_cycles (PerfEvent *self);
void sysprof_perf_event_init_cpu_clock (PerfEvent *self);
