// SPDX-License-Identifier: GPL-3.0-or-later

/* Which category a node of a graph belongs to. */

#include "document/callgraph/callgraph.h"

static SysprofCallgraphCategory
category_of_symbol (const Store *store, const SymbolTable *symbols, GraphSymbolId id)
{
  GraphSymbol symbol = sysprof_graph_symbol (store, symbols, id);

  switch (symbol.sort)
    {
    case GRAPH_SYMBOL_CONTEXT:
      return SYSPROF_CALLGRAPH_CATEGORY_CONTEXT_SWITCH;
    case GRAPH_SYMBOL_UNWINDABLE:
      return SYSPROF_CALLGRAPH_CATEGORY_UNWINDABLE;
    case GRAPH_SYMBOL_FUNCTION:
      if (symbols->row[symbol.index].kind == SYMBOL_KERNEL)
        return SYSPROF_CALLGRAPH_CATEGORY_KERNEL;
      if (symbols->row[symbol.index].kind == SYMBOL_MARKER)
        return SYSPROF_CALLGRAPH_CATEGORY_UNWINDABLE;
      return SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED;
    default:
      return SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED;
    }
}

uint8_t *
sysprof_graph_categorize (const Graph *graph,
                          const Store *store,
                          const SymbolTable *symbols,
                          bool bottom_up)
{
  uint8_t *category = g_new (uint8_t, graph->n);

  for (uint32_t i = 0; i < graph->n; i++)
    category[i] = (uint8_t) category_of_symbol (store, symbols, graph->symbol[i]);
  return category;
}
