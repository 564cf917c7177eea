// SPDX-License-Identifier: GPL-3.0-or-later

/* Every function once: where it is innermost, and where it is anywhere. */

#include "analyze/function-table.h"
#include "analyze/stack-walk.h"

FunctionTable *
sysprof_functions_new (const Store *store,
                       const SymbolTable *symbols,
                       const StackWeights *weights,
                       const TreeShape *shape)
{
  bool no_kernel = shape != NULL && shape->no_kernel;
  FunctionSums sums;
  StackWalk walk;

  sysprof_function_sums_init (&sums, store, symbols);
  sysprof_stack_walk_init (&walk, store, weights);
  while (sysprof_stack_walk_next (&walk))
    {
      StackId at = walk.at;
      bool is_visible =
          walk.stacks->depth[at] > 0 && !(no_kernel && sysprof_stack_is_kernel (store, at));

      if (walk.is_entering)
        {
          /* The weight of what is hidden goes to the function that called it. */
          sums.innermost[at] = is_visible ? sysprof_stack_symbol (store, symbols, at)
                                          : sums.innermost[walk.stacks->parent[at]];
          sums.self[sums.innermost[at]] += weights->self[at];
          if (is_visible)
            sysprof_function_sums_enter (&sums, sums.innermost[at], walk.subtree[at]);
        }
      else if (is_visible)
        sysprof_function_sums_leave (&sums, sums.innermost[at]);
    }
  sysprof_stack_walk_clear (&walk);

  return sysprof_function_sums_finish (&sums, symbols, weights);
}
