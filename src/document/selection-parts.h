// SPDX-License-Identifier: GPL-3.0-or-later

/* The options of a selection that need more than copying, one file each. */

#pragma once

#include "document/document.h"

/* "A..B" each → TimeRange, absolute, ascending and disjoint. */
gboolean sysprof_selection_parse_times (char **times,
                                        const Store *store,
                                        GArray *ranges,
                                        GError **error);

/* "0,2-3" each → int32_t. */
gboolean sysprof_selection_parse_cpus (char **lists, GArray *cpus, GError **error);

/* NAME|PID each → ProcessId; NAME|TID each → int32_t. */
gboolean sysprof_selection_find_processes (char **names,
                                           const Store *store,
                                           GArray *processes,
                                           GError **error);
gboolean
sysprof_selection_find_threads (char **names, const Store *store, GArray *tids, GError **error);
