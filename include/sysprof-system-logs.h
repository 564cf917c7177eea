// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSystemLogs: messages of the system journal, as log frames. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SYSTEM_LOGS (sysprof_system_logs_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSystemLogs,
                            sysprof_system_logs,
                            SYSTEM_LOGS,
                            SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_system_logs_new (void);

G_END_DECLS
