// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofPowerProfile: holds a power profile while recording. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_POWER_PROFILE (sysprof_power_profile_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofPowerProfile,
                            sysprof_power_profile,
                            POWER_PROFILE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* `id` is "power-saver", "balanced" or "performance". *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_power_profile_new (const char *id);

/* The power profile. Property "id". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_power_profile_get_id (SysprofPowerProfile *self);

G_END_DECLS
