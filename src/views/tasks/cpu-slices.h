// SPDX-License-Identifier: GPL-3.0-or-later

/* How busy CPUs were, by the marks of whoever recorded the scheduler: one for each time that a thread ran, of the CPU where it did. */

#pragma once

#include "analyze/analyze.h"

typedef struct
{
  int64_t busy;        /* ns in which threads ran, within the selection */
  uint64_t n_switches; /* to threads, within the selection; that a CPU became idle is none */
} CpuUse;

/* Whether the capture has such marks at all. */
bool sysprof_store_has_slices (const Store *store);

/* Adds up the slices of the processes and times that `filter` (may be NULL) takes, on all CPUs but those with numbers of `n` and
 * above; `uses` [n] is zeroed. FALSE for a selection that slices cannot answer, as they have neither threads nor stacks. */
bool sysprof_cpu_uses_find (const Store *store,
                            const SampleFilter *filter,
                            CpuUse *uses,
                            uint32_t n);

/* ns that `filter` takes of the recording. */
int64_t sysprof_selected_time (const Store *store, const SampleFilter *filter);
