// SPDX-License-Identifier: GPL-3.0-or-later

/* The direct neighbours of a function: who calls it, and whom it calls.
 *
 * A call is a pair of functions next to each other on a stack. Callers are the outer halves of the pairs
 * whose inner half is in focus; callees the inner halves of those whose outer half is. */

#include "analyze/function-table.h"
#include "analyze/shown-symbols.h"
#include "analyze/stack-walk.h"

/* What holds at each level of the walk. */
typedef struct
{
  SymbolId function; /* the innermost that shows, 0 = none */
  SymbolId row;      /* to which its call counts, 0 = none */
} Level;

static FunctionTable *
find_calls (const Store *store,
            const SymbolTable *symbols,
            const StackWeights *weights,
            const TreeShape *shape,
            bool want_callers)
{
  g_autofree bool *is_focus = sysprof_focus_match (symbols, shape->focus, NULL);
  g_autofree SymbolId *shown = sysprof_shown_symbols_new (store, symbols, shape);
  g_autofree Level *levels = NULL; /* [n_levels] */
  FunctionSums sums;
  StackWalk walk;

  sysprof_shown_symbols_move_focus (shown, symbols, is_focus);
  sysprof_function_sums_init (&sums, symbols);
  sysprof_stack_walk_init (&walk, store, symbols, weights);
  levels = g_new0 (Level, walk.n_levels);
  while (sysprof_stack_walk_next (&walk))
    {
      const StackVisit *at = walk.at;
      Level *level = &levels[walk.level];
      SymbolId symbol;

      if (walk.level == 0)
        continue;

      symbol = sysprof_shown_symbol (shown, at->symbol);
      if (symbol == 0 || (shape->no_kernel && at->is_kernel) ||
          (symbol == level[-1].function && shape->collapse != NULL &&
           sysprof_shape_collapses (shape, symbols, symbol)))
        {
          /* As if its caller were innermost. */
          level[0] = level[-1];
          if (walk.is_entering)
            sums.of_symbol[level->row].self += at->self;
          continue;
        }

      if (!walk.is_entering)
        {
          if (level->row != 0)
            sysprof_function_sums_leave (&sums, level->row);
          continue;
        }

      level->function = symbol;
      level->row = 0;
      if (want_callers && is_focus[symbol])
        level->row = level[-1].function;
      else if (!want_callers && is_focus[level[-1].function])
        level->row = symbol;

      sums.of_symbol[level->row].self += at->self;
      if (level->row != 0)
        sysprof_function_sums_enter (&sums, level->row, at->subtree);
    }
  sysprof_stack_walk_clear (&walk);

  return sysprof_function_sums_finish (&sums, symbols, weights);
}

FunctionTable *
sysprof_callers_new (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights,
                     const TreeShape *shape)
{
  return find_calls (store, symbols, weights, shape, true);
}

FunctionTable *
sysprof_callees_new (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights,
                     const TreeShape *shape)
{
  return find_calls (store, symbols, weights, shape, false);
}
