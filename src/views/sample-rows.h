// SPDX-License-Identifier: GPL-3.0-or-later

/* What views of samples share. */

#pragma once

#include "views/views.h"

/* Folds the samples that the request selects. Clear with sysprof_stack_weights_clear(). */
void sysprof_request_fold (const ViewRequest *request, bool by_thread, StackWeights *weights);
/* Sets name and unit of the weight, and the name of the events in messages. */
void sysprof_rows_name_weight (Rows *rows, const Store *store, const SampleFilter *filter);
/* The shape of the request, or the default one. */
Shape sysprof_request_shape (const ViewRequest *request);
/* Whether the request selects all samples. */
bool sysprof_request_is_whole (const ViewRequest *request);
/* Whether the request selects each process, [processes.n]. *(full)* */
bool *sysprof_request_find_processes (const ViewRequest *request);
/* Process of each stack, [stacks.n]. *(full)* */
ProcessId *sysprof_processes_of_stacks (const Store *store);
/* Time since the start of the recording, never negative. */
int64_t sysprof_request_offset (const ViewRequest *request, int64_t time);

/* "Waits (futex, 12.00 ms), ended by gdbus (1234)", of a row of Store.waits. *(full)* */
char *sysprof_dup_wait_text (const Store *store, uint32_t wait);

/* Columns of rows that are functions. */
extern const Column sysprof_function_columns[];
enum
{
  FUNCTION_SYMBOL,
  FUNCTION_BINARY,
  FUNCTION_KIND,
  FUNCTION_SELF,
  FUNCTION_TOTAL,
  FUNCTION_CATEGORY,
  FUNCTION_FILE, /* source file */
  FUNCTION_LINE,
  FUNCTION_INLINED,
  N_FUNCTION_COLUMNS,
};
void
sysprof_rows_add_functions (Rows *rows, const ViewRequest *request, const FunctionTable *table);
/* Fills the cells of a row from a node of a tree. `category`: from
 * sysprof_call_tree_categorize(). */
void sysprof_rows_set_node (Rows *rows,
                            Cell *cells,
                            const ViewRequest *request,
                            const CallTree *tree,
                            CallNodeId node,
                            const uint8_t *category);
