// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofMemoryUsage: the use of the machine's memory. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_MEMORY_USAGE (sysprof_memory_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofMemoryUsage,
                            sysprof_memory_usage,
                            MEMORY_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records counters of the category "Memory", in bytes, twice a second. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_memory_usage_new (void);

G_END_DECLS
