// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDiskUsage: completed operations of each block device. */

#pragma once

#include "sysprof-instrument.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DISK_USAGE (sysprof_disk_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofDiskUsage,
                            sysprof_disk_usage,
                            DISK_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records the counters "Disk"/"Total Reads (DEVICE)" and "Total Writes (DEVICE)" twice a
 * second: operations since the previous value, for each block device and "Combined". *(full)*
 */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_disk_usage_new (void);

G_END_DECLS
