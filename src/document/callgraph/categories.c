// SPDX-License-Identifier: GPL-3.0-or-later

/* Which category a node of a graph belongs to. */

#include "document/callgraph/callgraph.h"

G_STATIC_ASSERT ((int) CATEGORY_UNCATEGORIZED ==
                 (int) SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED);
G_STATIC_ASSERT ((int) CATEGORY_JAVASCRIPT == (int) SYSPROF_CALLGRAPH_CATEGORY_JAVASCRIPT);
G_STATIC_ASSERT ((int) CATEGORY_WINDOWING == (int) SYSPROF_CALLGRAPH_CATEGORY_WINDOWING);
G_STATIC_ASSERT ((int) N_CATEGORIES == (int) SYSPROF_CALLGRAPH_CATEGORY_LAST);

/* A rule of the user that cannot be parsed is ignored. The functions that categorize have no
 * error, so this is a log message, which an application may show. It is logged once, because
 * rules are read once. */
static void
tell_unreadable_rules (void)
{
  static gsize is_told;
  g_autoptr (GPtrArray) complaints = NULL;

  if (!g_once_init_enter (&is_told))
    return;
  complaints = g_ptr_array_new_with_free_func (g_free);
  sysprof_category_rules_free (sysprof_category_rules_load (complaints));
  for (guint i = 0; i < complaints->len; i++)
    g_message ("%s", (const char *) complaints->pdata[i]);
  g_once_init_leave (&is_told, 1);
}

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

  tell_unreadable_rules ();
  for (uint32_t i = 0; i < graph->n; i++)
    {
      GraphSymbol symbol = sysprof_graph_symbol (store, symbols, graph->symbol[i]);

      /* Bottom up, a node's parent is whom it calls. */
      inherited[i] = bottom_up ? (uint8_t) CATEGORY_NONE : inherited[graph->parent[i]];
      category[i] = (uint8_t) category_of (symbols, found, symbol, &inherited[i]);
    }
  return category;
}

/* In a bottom-up tree a path that ends is a complete stack. From there inwards, weights go
 * to callees as in a top-down tree. */
static uint8_t
category_of_path (const Graph *graph,
                  const Store *store,
                  const SymbolTable *symbols,
                  const uint8_t *found,
                  uint32_t node)
{
  Category category = CATEGORY_UNCATEGORIZED;
  uint8_t inherited = CATEGORY_NONE;

  for (;; node = graph->parent[node])
    {
      GraphSymbol symbol = sysprof_graph_symbol (store, symbols, graph->symbol[node]);

      if (symbol.sort != GRAPH_SYMBOL_FUNCTION && symbol.sort != GRAPH_SYMBOL_CONTEXT &&
          symbol.sort != GRAPH_SYMBOL_UNWINDABLE)
        return (uint8_t) category;
      category = category_of (symbols, found, symbol, &inherited);
      if (node == 0)
        return (uint8_t) category;
    }
}

uint8_t *
sysprof_graph_categorize_ends (const Graph *graph,
                               const Store *store,
                               const SymbolTable *symbols)
{
  const uint8_t *found = sysprof_symbol_categories (symbols);
  uint8_t *category = g_new0 (uint8_t, graph->n);

  for (uint32_t i = 0; i < graph->n; i++)
    if (graph->self[i] > 0)
      category[i] = category_of_path (graph, store, symbols, found, i);
  return category;
}
