// SPDX-License-Identifier: GPL-3.0-or-later

/* The summary, one screen: what was recorded, how good it is, what stands out, and where the
 * time went. */

#include "views/overview/summary-parts.h"
#include "views/sample-rows.h"

static bool
fill_summary (const ViewRequest *request, Rows *rows, GError **error)
{
  StackWeights weights;

  sysprof_request_fold (request, false, &weights);
  sysprof_rows_init (rows, NULL, 0, weights.total);
  sysprof_stack_weights_clear (&weights);
  return true;
}

/* clang-format off */
static const ViewSection sections[] = {
  { &sysprof_findings_view, 8, 8 },
  { &sysprof_waits_view, 5, 2 },
  { &sysprof_processes_view, 5, 1 },
  { &sysprof_functions_view, 15, 3 },
  { &sysprof_categories_view, 0, 0 },
  { &sysprof_memory_view, 0, 0 },
  { &sysprof_marks_view, 5, 0 },
  { &sysprof_counters_view, 5, 0 },
  { &sysprof_quality_view, 4, 0 },
  { 0 },
};
/* clang-format on */

const View sysprof_summary_view = {
  .name = "summary",
  .title = "Summary",
  .summary = "one screen: machine, quality, what stands out, top functions",
  .sections = sections,
  .begins_with_command = true,
  .options = OPTIONS_FUNCTION_TABLE & ~(unsigned) OPTIONS_SORT,
  .fill = fill_summary,
};
