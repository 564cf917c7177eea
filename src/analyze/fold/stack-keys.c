// SPDX-License-Identifier: GPL-3.0-or-later

/* The key of the innermost entry of each stack under a shape. See stack-keys.h. */

#include "analyze/fold/stack-keys.h"

static bool *
find_folded (const StackKeys *self)
{
  const Shape *shape = self->shape;
  bool *is_folded;

  if (!shape->fold_recursion && shape->collapse == NULL)
    return NULL;

  is_folded = g_new0 (bool, MAX (self->symbols->n, 1));
  for (SymbolId i = 1; i < self->symbols->n && sysprof_is_wanted_at (i); i++)
    is_folded[i] = shape->fold_recursion || sysprof_shape_collapses (shape, self->symbols, i);
  return is_folded;
}

ProcessId *
sysprof_first_of_comm_new (const Store *store)
{
  const Processes *processes = &store->processes;
  ProcessId *first = g_new0 (ProcessId, MAX (store->strings.n_strings, 1));

  for (ProcessId i = processes->n; i-- > 1;)
    first[processes->row[i].comm] = i;
  return first;
}

void
sysprof_stack_keys_init (StackKeys *self,
                         const Store *store,
                         const SymbolTable *symbols,
                         const Shape *shape)
{
  *self = (StackKeys){ .store = store, .symbols = symbols, .shape = shape };
  self->shown = sysprof_shown_symbols_new (store, symbols, shape);
  self->is_folded = find_folded (self);
  if (shape->merge_processes)
    self->first_of_comm = sysprof_first_of_comm_new (store);
}

void
sysprof_stack_keys_clear (StackKeys *self)
{
  g_free (self->shown);
  g_free (self->is_folded);
  g_free (self->first_of_comm);
}
