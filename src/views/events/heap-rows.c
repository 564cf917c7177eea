// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows of functions that allocated memory, for the views of allocations. */

#include "views/events/heap-rows.h"

void
sysprof_rows_fill_heap (Rows *rows, const ViewRequest *request, const uint8_t *is_in)
{
  const Store *store = request->store;
  SampleFilter filter = request->filter ? *request->filter : (SampleFilter){ 0 };
  Shape shape = sysprof_request_shape (request);
  g_autoptr (FunctionTable) table = NULL;
  StackWeights weights = { 0 };

  filter.events = &store->allocations;
  filter.event_is_in = is_in;
  filter.weight_name = NULL;
  shape.no_hooks = true;
  sysprof_stack_weights_fold (&weights, store, request->symbols, &filter, false);
  table = sysprof_functions_new (store, request->symbols, &weights, &shape);
  sysprof_rows_init (rows, sysprof_function_columns, N_FUNCTION_COLUMNS, weights.total);
  sysprof_rows_name_weight (rows, store, &filter);
  sysprof_rows_add_functions (rows, request, table);
  sysprof_stack_weights_clear (&weights);
}
