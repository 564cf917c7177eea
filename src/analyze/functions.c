// SPDX-License-Identifier: GPL-3.0-or-later

/* Every function once: where it is innermost, and where it is anywhere. */

#include "analyze/function-table.h"
#include "analyze/shown-symbols.h"
#include "analyze/stack-walk.h"

FunctionTable *
sysprof_functions_new (const Store *store,
                       const SymbolTable *symbols,
                       const StackWeights *weights,
                       const TreeShape *shape)
{
  bool no_kernel = shape != NULL && shape->no_kernel;
  g_autofree SymbolId *innermost =
      NULL; /* [n_levels] the function that shows at or above each level, 0 = none */
  g_autofree SymbolId *shown = sysprof_shown_symbols_new (store, symbols, shape);
  FunctionSums sums;
  StackWalk walk;

  sysprof_function_sums_init (&sums, symbols);
  sysprof_stack_walk_init (&walk, store, symbols, weights);
  innermost = g_new0 (SymbolId, walk.n_levels);
  while (sysprof_stack_walk_next (&walk))
    {
      const StackVisit *at = walk.at;
      SymbolId symbol = walk.level > 0 ? sysprof_shown_symbol (shown, at->symbol) : 0;
      bool is_visible = symbol != 0 && !(no_kernel && at->is_kernel);

      if (!walk.is_entering)
        {
          if (is_visible)
            sysprof_function_sums_leave (&sums, symbol);
          continue;
        }

      if (is_visible)
        {
          innermost[walk.level] = symbol;
          sysprof_function_sums_enter (&sums, symbol, at->subtree);
        }
      else if (walk.level > 0)
        innermost[walk.level] = innermost[walk.level - 1];

      /* The weight of what is hidden goes to the function that called it. */
      sums.of_symbol[innermost[walk.level]].self += at->self;
    }
  sysprof_stack_walk_clear (&walk);

  return sysprof_function_sums_finish (&sums, symbols, weights);
}
