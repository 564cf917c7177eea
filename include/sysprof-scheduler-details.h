// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSchedulerDetails: the time in which each thread ran, as marks. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SCHEDULER_DETAILS (sysprof_scheduler_details_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSchedulerDetails,
                            sysprof_scheduler_details,
                            SCHEDULER_DETAILS,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records marks of the group "Scheduler", named "CPU n", one for each time that a thread ran.
 * *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_scheduler_details_new (void);

G_END_DECLS
