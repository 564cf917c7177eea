// SPDX-License-Identifier: GPL-3.0-or-later

/* The options of a selection that need more than copying, one file each. */

#pragma once

#include "document/document.h"

/* "A..B" each → TimeRange, absolute, ascending and disjoint. */
gboolean sysprof_selection_parse_times (char **times,
                                        const Store *store,
                                        GArray *ranges,
                                        GError **error);

/* GROUP/NAME each, both globs → TimeRange of the marks, ascending and disjoint; OwnedSpan of the same, none where that of no
 * mark counts for one process or CPU alone. */
gboolean sysprof_selection_find_marks (char **marks,
                                       const Store *store,
                                       GArray *ranges,
                                       GArray *spans,
                                       GError **error);

/* TimeRange: ascending, those that meet joined. */
void sysprof_time_ranges_join (GArray *ranges);
/* All other times. `ranges` are ascending and disjoint. */
void sysprof_time_ranges_invert (GArray *ranges);
/* What is in both, each ascending and disjoint; `ranges` takes the result. */
void sysprof_time_ranges_intersect (GArray *ranges, const GArray *others);

/* "0,2-3" each → int32_t. */
gboolean
sysprof_selection_parse_cpus (char **lists, const Store *store, GArray *cpus, GError **error);

/* --process, --process-tree and --command together → ProcessId, ascending; NAME|TID each →
 * int32_t. */
gboolean sysprof_selection_find_processes (const Selection *self,
                                           const Store *store,
                                           GArray *processes,
                                           GError **error);
/* Globs of control groups → ProcessId, ascending. */
gboolean sysprof_selection_find_cgroups (char **patterns,
                                         const Store *store,
                                         GArray *processes,
                                         GError **error);
gboolean
sysprof_selection_find_threads (char **names, const Store *store, GArray *tids, GError **error);
