// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofUserSampler: stacks of programs that were built without frame pointers. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_USER_SAMPLER (sysprof_user_sampler_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofUserSampler,
                            sysprof_user_sampler,
                            USER_SAMPLER,
                            SYSPROF_AVAILABLE_IN_48)

/* Like sysprof_sampler_new(), but unwinds user stacks in copies of `stack_size` bytes (a
 * multiple of 8) per sample. *(full)* Since 48. */
SYSPROF_AVAILABLE_IN_48
SysprofInstrument *sysprof_user_sampler_new (guint stack_size);

G_END_DECLS
