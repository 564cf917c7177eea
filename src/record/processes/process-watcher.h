// SPDX-License-Identifier: GPL-3.0-or-later

/* The implicit instrument of every recording: records processes, their mappings, and where
 * their files are. */

#pragma once

#include "record/instrument.h"

#define SYSPROF_TYPE_PROCESS_WATCHER (sysprof_process_watcher_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofProcessWatcher,
                            sysprof_process_watcher,
                            PROCESS_WATCHER,
                            extern)

SysprofInstrument *sysprof_process_watcher_new (void);
