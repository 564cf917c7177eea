// SPDX-License-Identifier: GPL-3.0-or-later

/* Which category a node of a graph belongs to. */

#include "document/callgraph/callgraph.h"

G_STATIC_ASSERT ((int) CATEGORY_UNCATEGORIZED ==
                 (int) SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED);
G_STATIC_ASSERT ((int) CATEGORY_JAVASCRIPT == (int) SYSPROF_CALLGRAPH_CATEGORY_JAVASCRIPT);
G_STATIC_ASSERT ((int) CATEGORY_WINDOWING == (int) SYSPROF_CALLGRAPH_CATEGORY_WINDOWING);
G_STATIC_ASSERT ((int) N_CATEGORIES == (int) SYSPROF_CALLGRAPH_CATEGORY_LAST);

/* What is no function hands on what it was handed. */
static Category
category_of (const SymbolTable *symbols,
             const uint8_t *found,
             GraphSymbol symbol,
             uint8_t *inherited)
{
  switch (symbol.sort)
    {
    case GRAPH_SYMBOL_CONTEXT:
      return CATEGORY_CONTEXT_SWITCH;
    case GRAPH_SYMBOL_UNWINDABLE:
      return CATEGORY_UNWINDABLE;
    case GRAPH_SYMBOL_FUNCTION:
      return sysprof_category_enter (found[symbol.index],
                                     (SymbolKind) symbols->row[symbol.index].kind, inherited);
    default:
      return CATEGORY_UNCATEGORIZED;
    }
}

uint8_t *
sysprof_graph_categorize (const Graph *graph,
                          const Store *store,
                          const SymbolTable *symbols,
                          bool bottom_up)
{
  const uint8_t *found = sysprof_symbol_categories (symbols);
  g_autofree uint8_t *inherited = g_new0 (uint8_t, graph->n);
  uint8_t *category = g_new (uint8_t, graph->n);

  for (uint32_t i = 0; i < graph->n; i++)
    {
      GraphSymbol symbol = sysprof_graph_symbol (store, symbols, graph->symbol[i]);

      /* Bottom up, a node's parent is whom it calls. */
      inherited[i] = bottom_up ? (uint8_t) CATEGORY_NONE : inherited[graph->parent[i]];
      category[i] = (uint8_t) category_of (symbols, found, symbol, &inherited[i]);
    }
  return category;
}
