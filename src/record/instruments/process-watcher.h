// SPDX-License-Identifier: GPL-3.0-or-later

/* The hidden instrument that every recording has: which processes there are, what they have mapped, where their
 * files are. */

#pragma once

#include "record/instrument.h"

#define SYSPROF_TYPE_PROCESS_WATCHER (sysprof_process_watcher_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofProcessWatcher,
                            sysprof_process_watcher,
                            PROCESS_WATCHER,
                            extern)

SysprofInstrument *sysprof_process_watcher_new (void);
