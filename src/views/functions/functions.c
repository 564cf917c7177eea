// SPDX-License-Identifier: GPL-3.0-or-later

/* All functions, each once. */

#include "views/sample-rows.h"

static bool
fill_functions (const ViewRequest *request, Rows *rows, GError **error)
{
  Shape shape = sysprof_request_shape (request);
  g_autoptr (FunctionTable) table = NULL;
  StackWeights weights;

  sysprof_request_fold (request, false, &weights);
  table = sysprof_functions_new (request->store, request->symbols, &weights, &shape);
  sysprof_rows_init (rows, sysprof_function_columns, N_FUNCTION_COLUMNS, weights.total);
  sysprof_rows_add_functions (rows, request, table);
  sysprof_stack_weights_clear (&weights);
  return true;
}

const View sysprof_functions_view = {
  .name = "functions",
  .title = "Functions",
  .summary = "every function once: self, total",
  .recorded_by = RECORDED_AS_SAMPLES,
  .options = OPTIONS_FUNCTION_TABLE,
  .fill = fill_functions,
};
