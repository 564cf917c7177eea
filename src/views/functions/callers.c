// SPDX-License-Identifier: GPL-3.0-or-later

/* Direct callers of one function, over all its call sites. */

#include "views/sample-rows.h"

static bool
fill_callers (const ViewRequest *request, Rows *rows, GError **error)
{
  Shape shape = sysprof_request_shape (request);
  g_autoptr (FunctionTable) table = NULL;
  StackWeights weights;

  if (!sysprof_request_needs_focus (request, "callers", error))
    return false;

  sysprof_request_fold (request, false, &weights);
  table = sysprof_callers_new (request->store, request->symbols, &weights, &shape);
  sysprof_rows_init (rows, sysprof_function_columns, N_FUNCTION_COLUMNS, weights.total);
  sysprof_rows_add_functions (rows, request, table);
  sysprof_rows_drop_column (rows, FUNCTION_SELF); /* of the focus, and not of its callers */
  sysprof_stack_weights_clear (&weights);
  return sysprof_rows_sort (rows, "total", error);
}

const View sysprof_callers_view = {
  .name = "callers",
  .title = "Callers",
  .summary = "what calls the --focus function",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_FUNCTION_TABLE | OPTIONS_FOCUS,
  .fill = fill_callers,
};
