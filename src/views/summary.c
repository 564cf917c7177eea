// SPDX-License-Identifier: GPL-3.0-or-later

/* One screen: what was recorded, how good it is, and where the time went. */

#include "views/fold.h"

static bool
fill_summary (const ViewRequest *request, Rows *rows, GError **error)
{
  StackWeights weights;

  sysprof_request_fold (request, false, &weights);
  sysprof_rows_init (rows, NULL, 0, weights.total);
  sysprof_stack_weights_clear (&weights);
  return true;
}

static const ViewSection sections[] = {
  { "processes", 5 },
  { "functions", 20 },
  { "quality", 4 },
  { 0 },
};

const View sysprof_summary_view = {
  .name = "summary",
  .title = "Summary",
  .summary = "one screen: machine, quality, top processes and functions",
  .sections = sections,
  .fill = fill_summary,
};
