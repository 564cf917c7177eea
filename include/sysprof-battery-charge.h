// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofBatteryCharge: charge left in each battery. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_BATTERY_CHARGE (sysprof_battery_charge_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofBatteryCharge,
                            sysprof_battery_charge,
                            BATTERY_CHARGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records counters of the category "Battery Charge", in µAh, twice a second. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_battery_charge_new (void);

G_END_DECLS
