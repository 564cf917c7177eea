// SPDX-License-Identifier: GPL-3.0-or-later

/* Hands categories down: over the nodes of a tree, and over stacks. In both, parents come before their children. */

#include "analyze/categories/categories.h"
#include "analyze/fold/shown-symbols.h"
#include "analyze/fold/stack-entry.h"

#define DISAGREE UINT8_MAX

/* Functions of a binary that is shown as one have what they have in common. */
static void
agree (uint8_t *found, const SymbolTable *symbols, const Shape *shape)
{
  g_autofree uint8_t *of_binary = g_new0 (uint8_t, MAX (symbols->strings.n_strings, 1));
  g_autofree bool *is_known = g_new0 (bool, MAX (symbols->strings.n_strings, 1));
  g_autofree bool *is_collapsed = g_new0 (bool, MAX (symbols->n, 1));

  for (SymbolId i = 1; i < symbols->n && sysprof_is_wanted_at (i); i++)
    {
      StringId binary = symbols->row[i].binary;

      is_collapsed[i] = sysprof_shape_collapses (shape, symbols, i);
      if (!is_known[binary])
        of_binary[binary] = found[i];
      else if (of_binary[binary] != found[i])
        of_binary[binary] = DISAGREE;
      is_known[binary] = true;
    }

  for (SymbolId i = 1; i < symbols->n; i++)
    if (is_collapsed[i])
      found[i] = of_binary[symbols->row[i].binary] != DISAGREE
                     ? of_binary[symbols->row[i].binary]
                     : CATEGORY_NONE;
}

uint8_t *
sysprof_shown_categories_new (const SymbolTable *symbols, const Shape *shape)
{
  uint8_t *found = g_memdup2 (sysprof_symbol_categories (symbols), MAX (symbols->n, 1));

  if (shape != NULL && shape->collapse != NULL)
    agree (found, symbols, shape);
  return found;
}

uint8_t *
sysprof_call_tree_categorize (const CallTree *self,
                              const SymbolTable *symbols,
                              const Shape *shape)
{
  g_autofree uint8_t *found = sysprof_shown_categories_new (symbols, shape);
  g_autofree uint8_t *inherited = g_new0 (uint8_t, MAX (self->n, 1));
  uint8_t *category = g_new0 (uint8_t, MAX (self->n, 1));

  for (CallNodeId i = 0; i < self->n && sysprof_is_wanted_at (i); i++)
    {
      SymbolId symbol = self->symbol[i];

      if (symbol == 0)
        continue;
      if (shape == NULL || !shape->bottom_up)
        inherited[i] = inherited[self->parent[i]];
      category[i] = (uint8_t) sysprof_category_enter (
          found[symbol], (SymbolKind) symbols->row[symbol].kind, &inherited[i]);
    }
  return category;
}

uint8_t *
sysprof_stacks_categorize (const Store *store, const SymbolTable *symbols, const Shape *shape)
{
  const StackTree *stacks = &store->stacks;
  bool no_kernel = shape != NULL && shape->no_kernel;
  g_autofree uint8_t *found = sysprof_shown_categories_new (symbols, shape);
  g_autofree SymbolId *shown = sysprof_shown_symbols_new (store, symbols, shape);
  g_autofree uint8_t *inherited = g_new0 (uint8_t, MAX (stacks->n, 1));
  uint8_t *category = g_new0 (uint8_t, MAX (stacks->n, 1));

  for (StackId i = 0; i < stacks->n && sysprof_is_wanted_at (i); i++)
    {
      SymbolId symbol;

      /* Nothing is known of what ran without a stack. */
      category[i] = CATEGORY_UNWINDABLE;
      if (stacks->depth[i] == 0)
        continue;

      inherited[i] = inherited[stacks->parent[i]];
      category[i] = category[stacks->parent[i]];
      symbol = sysprof_shown_symbol (shown, sysprof_stack_symbol (store, symbols, i));
      if (symbol != 0 && !(no_kernel && sysprof_stack_is_kernel (store, i)))
        category[i] = (uint8_t) sysprof_category_enter (
            found[symbol], (SymbolKind) symbols->row[symbol].kind, &inherited[i]);
    }
  return category;
}
