// SPDX-License-Identifier: GPL-3.0-or-later

/* The views that the summary consists of, and what they share. */

#pragma once

#include "views/views.h"

/* Parts of the summary that are not views of their own. */
extern const View sysprof_categories_view;
extern const View sysprof_findings_view;
extern const View sysprof_memory_view;

extern const View sysprof_counters_view;
extern const View sysprof_functions_view;
extern const View sysprof_heat_view;
extern const View sysprof_marks_view;
extern const View sysprof_processes_view;
extern const View sysprof_quality_view;
extern const View sysprof_waits_view;

/* Whether the request selects each mark, [n_marks]. Sets their number, unless `n` is NULL.
 * *(full)* */
bool *sysprof_request_find_marks (const ViewRequest *request, uint32_t *n);
/* The most common reason for truncated stacks. *(static)*; NULL if no stack is truncated. */
const char *sysprof_find_most_common_cut (const Store *store,
                                          const SymbolTable *symbols,
                                          const StackWeights *weights);
