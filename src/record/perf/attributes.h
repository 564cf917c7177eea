// SPDX-License-Identifier: GPL-3.0-or-later

/* What is asked of the kernel, per role that an event plays. */

#pragma once

#include "record/perf/event.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PerfAttributes PerfAttributes;

typedef enum
{
  PERF_ROLE_RING,          /* owns the ring, nothing else */
  PERF_ROLE_LEAD_AND_TELL, /* owns the ring; tells of mappings, names, forks and exits */
  PERF_ROLE_TELL,          /* of a task; inherited */
  PERF_ROLE_SAMPLE,        /* samples; of a task, inherited */
  PERF_ROLE_WALKS,         /* carries what the program in the kernel sends of each sample */
} PerfRole;

struct PerfAttributes
{
  const struct PerfSessionOptions *options; /* borrowed */
  const PerfEvent *event;                   /* that samples are taken on; borrowed */
  unsigned features;                        /* those that the kernel has not refused */
  size_t ring_size;                         /* bytes; set before events are opened */
};

void sysprof_perf_attributes_init (PerfAttributes *self,
                                   const struct PerfSessionOptions *options);

void sysprof_perf_attributes_fill (const PerfAttributes *self,
                                   PerfRole role,
                                   struct perf_event_attr *attr);

/* Whether the kernel counts, for each event, the records that found no room in the ring (Linux 6.0 and later). Valid once an
 * event is open. */
bool sysprof_perf_attributes_counts_losses (const PerfAttributes *self);

/* Gives up one more feature that old kernels do not have. FALSE when there is none left. */
bool sysprof_perf_attributes_reduce (PerfAttributes *self);
/* The same after EACCES: what takes a right that sampling alone does not. */
bool sysprof_perf_attributes_reduce_rights (PerfAttributes *self);

/* Time between samples of `event` on one CPU; 0 when it is not a matter of time. */
int64_t sysprof_perf_attributes_get_nsec_per_sample (const PerfAttributes *self,
                                                     const PerfEvent *event);
