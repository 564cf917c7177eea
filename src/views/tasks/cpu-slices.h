// SPDX-License-Identifier: GPL-3.0-or-later

/* How busy CPUs were, from the marks of the scheduler: one for each time that a thread ran
 * on a CPU. */

#pragma once

#include "analyze/analyze.h"

typedef struct
{
  int64_t busy;        /* ns in which threads ran, within the selection */
  uint64_t n_switches; /* switches to threads, not to idle, within the selection */
} CpuUse;

/* Whether the capture has such marks. */
bool sysprof_store_has_slices (const Store *store);

/* Adds up the slices of processes and times that `filter` (may be NULL) selects, for CPUs
 * below `n`. `uses` [n] must be zero. FALSE if the selection depends on threads or stacks,
 * which slices do not have. */
bool sysprof_cpu_uses_find (const Store *store,
                            const SampleFilter *filter,
                            CpuUse *uses,
                            uint32_t n);

/* Nanoseconds of the recording that `filter` selects. */
int64_t sysprof_selected_time (const Store *store, const SampleFilter *filter);
