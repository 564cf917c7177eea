// SPDX-License-Identifier: GPL-3.0-or-later

/* The direct neighbours of a function: who calls it, and whom it calls.
 *
 * A call is a pair of functions next to each other on a stack. Callers are the outer halves of the pairs
 * whose inner half is in focus; callees the inner halves of those whose outer half is. */

#include "analyze/function-table.h"
#include "analyze/stack-walk.h"

typedef struct
{
  const Store *store;
  const SymbolTable *symbols;
  const SymbolId *innermost; /* [stacks.n] filled for what was entered */
  bool *is_focus;            /* [symbols->n] */
  bool no_kernel;
  bool want_callers;
} CallFinder;

/* The row to which the call counts that the walk's stack adds to its parent's, 0 = none. */
static SymbolId
row_of_call (const CallFinder *self, StackId at)
{
  SymbolId outer = self->innermost[self->store->stacks.parent[at]];
  SymbolId inner = sysprof_stack_symbol (self->store, self->symbols, at);

  if (outer == 0 || (self->no_kernel && sysprof_stack_is_kernel (self->store, at)))
    return 0;
  if (self->want_callers)
    return self->is_focus[inner] ? outer : 0;
  return self->is_focus[outer] ? inner : 0;
}

static FunctionTable *
find_calls (CallFinder *self, const StackWeights *weights, const TreeShape *shape)
{
  g_autofree SymbolId *last_row = g_new0 (SymbolId, MAX (self->store->stacks.n, 1));
  FunctionSums sums;
  StackWalk walk;

  self->is_focus = sysprof_focus_match (self->symbols, shape->focus, NULL);
  self->no_kernel = shape->no_kernel;

  sysprof_function_sums_init (&sums, self->store, self->symbols);
  self->innermost = sums.innermost;
  sysprof_stack_walk_init (&walk, self->store, weights);
  while (sysprof_stack_walk_next (&walk))
    {
      StackId at = walk.at;
      StackId parent = walk.stacks->parent[at];
      SymbolId row = walk.stacks->depth[at] > 0 ? row_of_call (self, at) : 0;

      if (!walk.is_entering)
        {
          if (row != 0)
            sysprof_function_sums_leave (&sums, row);
          continue;
        }

      if (walk.stacks->depth[at] > 0 && self->no_kernel &&
          sysprof_stack_is_kernel (self->store, at))
        {
          sums.innermost[at] = sums.innermost[parent];
          last_row[at] = last_row[parent];
        }
      else if (walk.stacks->depth[at] > 0)
        {
          sums.innermost[at] = sysprof_stack_symbol (self->store, self->symbols, at);
          last_row[at] = row;
        }

      sums.self[last_row[at]] += weights->self[at];
      if (row != 0)
        sysprof_function_sums_enter (&sums, row, walk.subtree[at]);
    }
  sysprof_stack_walk_clear (&walk);
  g_free (self->is_focus);

  return sysprof_function_sums_finish (&sums, self->symbols, weights);
}

FunctionTable *
sysprof_callers_new (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights,
                     const TreeShape *shape)
{
  CallFinder finder = { .store = store, .symbols = symbols, .want_callers = true };

  return find_calls (&finder, weights, shape);
}

FunctionTable *
sysprof_callees_new (const Store *store,
                     const SymbolTable *symbols,
                     const StackWeights *weights,
                     const TreeShape *shape)
{
  CallFinder finder = { .store = store, .symbols = symbols };

  return find_calls (&finder, weights, shape);
}
