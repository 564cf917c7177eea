// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSampler: stacks of the whole system, or of selected processes, from perf events. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SAMPLER (sysprof_sampler_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSampler, sysprof_sampler, SAMPLER, SYSPROF_AVAILABLE_IN_ALL)

/* Samples every CPU at 1 kHz: kernel and user stacks by frame pointer, with the mappings,
 * forks, exits and names that readers need. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_sampler_new (void);

G_END_DECLS
