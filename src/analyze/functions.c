// SPDX-License-Identifier: GPL-3.0-or-later

/* Tables of functions, of one selection: every function once, or the direct neighbours of those in focus. */

#include "analyze/fold-forest.h"
#include "analyze/function-table.h"

/* In the order of the walk: from its end to its front a node is complete when it is reached. */
static void
sum_rows (FunctionSums *sums, const FoldForest *forest, uint64_t *total)
{
  for (uint32_t i = forest->n; i-- > 1;)
    {
      const ForestNode *node = &forest->node[i];

      total[node->parent] += total[i];
      if (node->row & FOLD_ROW_COUNTS)
        sums->of_symbol[node->row & ~FOLD_ROW_COUNTS].total += total[i];
    }
}

static FunctionTable *
new_table (const Store *store,
           const SymbolTable *symbols,
           const StackWeights *weights,
           const TreeShape *shape,
           const FoldQuestion *question)
{
  TreeShape asked = sysprof_fold_table_shape (shape);
  g_autofree StackId *stack = g_new (StackId, MAX (store->stacks.n, 1));
  g_autofree uint64_t *total = NULL;
  FoldEnds ends = { .stack = stack };
  FunctionSums sums;
  FoldForest forest;

  for (StackId i = 0; i < store->stacks.n; i++)
    if (weights->self[i] > 0)
      stack[ends.n++] = i;

  /* Nobody can cancel these. */
  (void) sysprof_fold_forest_init (&forest, store, symbols, &asked, &ends, NULL);
  (void) sysprof_fold_forest_answer (&forest, store, symbols, &asked, question, NULL);

  sysprof_function_sums_init (&sums, symbols);
  total = sysprof_large_new0 (forest.n, sizeof *total);
  for (uint32_t i = 0; i < ends.n; i++)
    {
      uint32_t node = forest.node_of_end[i];

      total[node] = weights->self[stack[i]];
      sums.of_symbol[forest.node[node].row & ~FOLD_ROW_COUNTS].self += total[node];
    }
  sum_rows (&sums, &forest, total);
  sysprof_fold_forest_clear (&forest);
  return sysprof_function_sums_finish (&sums, symbols, NULL, weights->total, NULL);
}

FunctionTable *
sysprof_functions_new (const Store *store,
                       const SymbolTable *symbols,
                       const StackWeights *weights,
                       const TreeShape *shape)
{
  return new_table (store, symbols, weights, shape, &(FoldQuestion){ FOLD_FUNCTIONS, NULL });
}

FunctionTable *
sysprof_callers_new (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights,
                     const TreeShape *shape)
{
  return new_table (store, symbols, weights, shape,
                    &(FoldQuestion){ FOLD_CALLERS, shape->focus });
}

FunctionTable *
sysprof_callees_new (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights,
                     const TreeShape *shape)
{
  return new_table (store, symbols, weights, shape,
                    &(FoldQuestion){ FOLD_CALLEES, shape->focus });
}
