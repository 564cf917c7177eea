// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofEnergyUsage: power consumption of the parts of the CPU (RAPL). */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_ENERGY_USAGE (sysprof_energy_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofEnergyUsage,
                            sysprof_energy_usage,
                            ENERGY_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_energy_usage_new (void);

G_END_DECLS
