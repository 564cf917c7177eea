// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills in perf_event_attr for each role that an event has in a session. */

#pragma once

#include "perf/events/event.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PerfAttributes PerfAttributes;

typedef enum
{
  PERF_ROLE_RING,          /* owns the ring, records nothing */
  PERF_ROLE_LEAD_AND_TELL, /* owns the ring; records mappings, names, forks and exits */
  PERF_ROLE_TELL,          /* records them for a task; inherited */
  PERF_ROLE_SAMPLE,        /* samples; for a task, inherited */
  PERF_ROLE_WALKS,         /* transports the output of the BPF walker */
} PerfRole;

struct PerfAttributes
{
  const struct PerfSessionOptions *options; /* borrowed */
  const PerfEvent *event;                   /* the event to sample on; borrowed */
  unsigned features;                        /* features that the kernel has not refused */
  size_t ring_size;                         /* bytes; set before events are opened */
};

void sysprof_perf_attributes_init (PerfAttributes *self,
                                   const struct PerfSessionOptions *options);

void sysprof_perf_attributes_fill (const PerfAttributes *self,
                                   PerfRole role,
                                   struct perf_event_attr *attr);

/* Whether the kernel counts, for each event, the records that did not fit into the ring (Linux
 * 6.0 and later). Valid once an event is open. */
bool sysprof_perf_attributes_counts_losses (const PerfAttributes *self);

/* Drops one more feature that older kernels do not support. FALSE when none is left. */
bool sysprof_perf_attributes_reduce (PerfAttributes *self);
/* The same after EACCES: drops the feature that needs more privileges than sampling. */
bool sysprof_perf_attributes_reduce_rights (PerfAttributes *self);

/* Time between two samples of `event` on one CPU; 0 if samples do not follow time. */
int64_t sysprof_perf_attributes_get_nsec_per_sample (const PerfAttributes *self,
                                                     const PerfEvent *event);
