// SPDX-License-Identifier: GPL-3.0-or-later

/* Views that the summary is made of, and what they share. */

#pragma once

#include "views/views.h"

/* No words of their own: only parts of the summary. */
extern const View sysprof_categories_view;
extern const View sysprof_findings_view;

extern const View sysprof_counters_view;
extern const View sysprof_functions_view;
extern const View sysprof_heat_view;
extern const View sysprof_marks_view;
extern const View sysprof_processes_view;
extern const View sysprof_quality_view;

/* [n_marks] which of them the request selects; how many, unless `n` is NULL. *(full)* */
bool *sysprof_request_find_marks (const ViewRequest *request, uint32_t *n);
/* Why most of the truncated stacks are truncated. *(static)*; NULL = none is. */
const char *sysprof_find_most_common_cut (const Store *store,
                                          const SymbolTable *symbols,
                                          const StackWeights *weights);
