// SPDX-License-Identifier: GPL-3.0-or-later

#include "analyze/function-table.h"

#include "analyze/call-order.h"

#include <stdlib.h>

void
sysprof_function_sums_init (FunctionSums *self, const Store *store, const SymbolTable *symbols)
{
  self->self = g_new0 (uint64_t, MAX (symbols->n, 1));
  self->total = g_new0 (uint64_t, MAX (symbols->n, 1));
  self->n_open = g_new0 (uint32_t, MAX (symbols->n, 1));
  self->innermost = g_new0 (SymbolId, MAX (store->stacks.n, 1));
}

static int
compare_rows (const void *a, const void *b, void *data)
{
  const FunctionRow *left = a;
  const FunctionRow *right = b;

  if (left->self != right->self)
    return left->self < right->self ? 1 : -1;
  if (left->total != right->total)
    return left->total < right->total ? 1 : -1;
  return sysprof_symbol_compare (data, left->symbol, right->symbol);
}

FunctionTable *
sysprof_function_sums_finish (FunctionSums *self,
                              const SymbolTable *symbols,
                              const StackWeights *weights)
{
  FunctionTable *table = g_new0 (FunctionTable, 1);
  uint32_t n = 0;

  for (SymbolId i = 1; i < symbols->n; i++)
    n += self->total[i] > 0 && symbols->row[i].kind != SYMBOL_MARKER;

  table->total = weights->total;
  table->row = g_new (FunctionRow, MAX (n, 1));
  for (SymbolId i = 1; i < symbols->n; i++)
    if (self->total[i] > 0 && symbols->row[i].kind != SYMBOL_MARKER)
      table->row[table->n++] = (FunctionRow){ i, self->self[i], self->total[i] };
  qsort_r (table->row, table->n, sizeof *table->row, compare_rows, (void *) symbols);

  g_free (self->self);
  g_free (self->total);
  g_free (self->n_open);
  g_free (self->innermost);
  *self = (FunctionSums){ 0 };
  return table;
}

void
sysprof_function_table_free (FunctionTable *self)
{
  if (self == NULL)
    return;

  g_free (self->row);
  g_free (self);
}
