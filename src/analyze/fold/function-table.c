// SPDX-License-Identifier: GPL-3.0-or-later

/* Adds up self and total per function. See function-table.h. */

#include "analyze/fold/function-table.h"

#include "analyze/fold/call-order.h"
#include "analyze/fold/work.h"

#include <stdlib.h>

void
sysprof_function_sums_init (FunctionSums *self, const SymbolTable *symbols)
{
  self->of_symbol = g_new0 (FunctionSum, MAX (symbols->n, 1));
}

void
sysprof_function_sums_clear (FunctionSums *self)
{
  g_clear_pointer (&self->of_symbol, g_free);
}

void
sysprof_function_sums_add (FunctionSums *self,
                           const FunctionSums *other,
                           const SymbolTable *symbols)
{
  for (SymbolId i = 0; i < symbols->n; i++)
    {
      self->of_symbol[i].self += other->of_symbol[i].self;
      self->of_symbol[i].total += other->of_symbol[i].total;
    }
}

typedef struct
{
  const SymbolTable *symbols;
  const uint32_t *rank;
} Order;

static int
compare_rows (const void *a, const void *b, void *data)
{
  const Order *order = data;
  const FunctionRow *left = a;
  const FunctionRow *right = b;

  if (left->self != right->self)
    return left->self < right->self ? 1 : -1;
  if (left->total != right->total)
    return left->total < right->total ? 1 : -1;
  if (order->rank != NULL)
    return order->rank[left->symbol] < order->rank[right->symbol] ? -1 : 1;
  return sysprof_symbol_compare (order->symbols, left->symbol, right->symbol);
}

FunctionTable *
sysprof_function_sums_finish (FunctionSums *self,
                              const SymbolTable *symbols,
                              const uint32_t *rank,
                              uint64_t total,
                              const FoldWork *work)
{
  Order order = { symbols, rank };
  FunctionTable *table = g_new0 (FunctionTable, 1);

  table->total = total;
  table->row = g_new (FunctionRow, MAX (symbols->n, 1));
  for (SymbolId i = 1; i < symbols->n; i++)
    {
      const FunctionSum *sum = &self->of_symbol[i];

      if (sum->total > 0 && symbols->row[i].kind != SYMBOL_MARKER)
        table->row[table->n++] = (FunctionRow){ i, sum->self, sum->total };
    }
  table->row = g_renew (FunctionRow, table->row, MAX (table->n, 1));
  sysprof_function_sums_clear (self);
  if (sysprof_fold_work_sort (work, table->row, table->n, sizeof *table->row, compare_rows,
                              &order))
    return table;

  sysprof_function_table_free (table);
  return NULL;
}

void
sysprof_function_table_free (FunctionTable *self)
{
  if (self == NULL)
    return;

  g_free (self->row);
  g_free (self);
}
