// SPDX-License-Identifier: GPL-3.0-or-later

/* Direct callees of one function, over all its call sites. */

#include "views/sample-rows.h"

static bool
fill_callees (const ViewRequest *request, Rows *rows, GError **error)
{
  Shape shape = sysprof_request_shape (request);
  g_autoptr (FunctionTable) table = NULL;
  StackWeights weights;

  if (!sysprof_request_needs_focus (request, "callees", error))
    return false;

  sysprof_request_fold (request, false, &weights);
  table = sysprof_callees_new (request->store, request->symbols, &weights, &shape);
  sysprof_rows_init (rows, sysprof_function_columns, N_FUNCTION_COLUMNS, weights.total);
  sysprof_rows_add_functions (rows, request, table);
  sysprof_stack_weights_clear (&weights);
  return true;
}

const View sysprof_callees_view = {
  .name = "callees",
  .title = "Callees",
  .summary = "what the --focus function calls",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_FUNCTION_TABLE | OPTIONS_FOCUS,
  .fill = fill_callees,
};
