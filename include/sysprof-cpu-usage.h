// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCpuUsage: the use and frequency of each CPU. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_CPU_USAGE (sysprof_cpu_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofCpuUsage,
                            sysprof_cpu_usage,
                            CPU_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records the counters "CPU Percent" and "CPU Frequency" five times a second, and a copy of
 * /proc/cpuinfo. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_cpu_usage_new (void);

G_END_DECLS
