// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSampler: stacks of the whole system, or of chosen processes, through perf events. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SAMPLER (sysprof_sampler_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSampler, sysprof_sampler, SAMPLER, SYSPROF_AVAILABLE_IN_ALL)

/* An instrument that samples every CPU at 1 kHz: call chains by frame pointer, kernel and user, with the
 * mappings, forks, exits and names that are needed to read them. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_sampler_new (void);

G_END_DECLS
