// SPDX-License-Identifier: GPL-3.0-or-later

/* What views of samples share. */

#pragma once

#include "views/views.h"

/* Weights of what the request selects. Clear with sysprof_stack_weights_clear(). */
void sysprof_request_fold (const ViewRequest *request, bool by_thread, StackWeights *weights);
/* What the filter weighs: name and unit of the weight, and of what there might be none. */
void sysprof_rows_name_weight (Rows *rows, const Store *store, const SampleFilter *filter);
/* The shape that was asked for, or the plain one. */
TreeShape sysprof_request_shape (const ViewRequest *request);
/* Whether the request leaves no sample out. */
bool sysprof_request_is_whole (const ViewRequest *request);
/* [stacks.n] the process of each stack. *(full)* */
ProcessId *sysprof_processes_of_stacks (const Store *store);
/* A time of the store as offset from its begin, never negative. */
int64_t sysprof_request_offset (const ViewRequest *request, int64_t time);

/* Columns of rows that are functions, and what fills them. */
extern const Column sysprof_function_columns[];
enum
{
  FUNCTION_SYMBOL,
  FUNCTION_BINARY,
  FUNCTION_KIND,
  FUNCTION_SELF,
  FUNCTION_TOTAL,
  FUNCTION_CATEGORY,
  FUNCTION_FILE, /* where it is written */
  FUNCTION_LINE,
  FUNCTION_INLINED,
  N_FUNCTION_COLUMNS,
};
void
sysprof_rows_add_functions (Rows *rows, const ViewRequest *request, const FunctionTable *table);
/* Fills the cells of a row from a node of a tree; the label is the rows'. `category`: sysprof_call_tree_categorize(). */
void sysprof_rows_set_node (Rows *rows,
                            Cell *cells,
                            const ViewRequest *request,
                            const CallTree *tree,
                            CallNodeId node,
                            const uint8_t *category);
