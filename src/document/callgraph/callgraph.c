// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCallgraph: a call graph of the engine as objects and lists. See callgraph.h. */

#include "document/callgraph/callgraph.h"

#include <string.h>

static GType
sysprof_callgraph_get_item_type (GListModel *model)
{
  return SYSPROF_TYPE_CALLGRAPH_FRAME;
}

static guint
sysprof_callgraph_get_n_items (GListModel *model)
{
  return 1;
}

static gpointer
sysprof_callgraph_get_item (GListModel *model, guint position)
{
  SysprofCallgraph *self = SYSPROF_CALLGRAPH (model);

  return position == 0 ? sysprof_callgraph_frame_new (self, self->tree, 0) : NULL;
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = sysprof_callgraph_get_item_type;
  interface->get_n_items = sysprof_callgraph_get_n_items;
  interface->get_item = sysprof_callgraph_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (SysprofCallgraph,
                               sysprof_callgraph,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

/* A symbol counts once per stack: where it is below itself, it was counted above. */
static SymbolWeight *
sum_weights (const Graph *graph, uint32_t n_symbols)
{
  SymbolWeight *weights = g_new0 (SymbolWeight, n_symbols);
  g_autofree uint32_t *end = g_new0 (uint32_t, n_symbols);

  for (uint32_t i = 0; i < graph->n; i++)
    {
      GraphSymbolId symbol = graph->symbol[i];

      weights[symbol].self += graph->self[i];
      if (i < end[symbol])
        continue;

      weights[symbol].total += graph->total[i];
      end[symbol] = graph->end[i];
    }
  return weights;
}

static const SymbolWeight *
get_weights (SysprofCallgraph *self)
{
  if (self->weights == NULL)
    self->weights =
        sum_weights (self->tree->graph, sysprof_graph_n_symbols (self->store, self->symbols));
  return self->weights;
}

typedef struct
{
  const SymbolWeight *weights;
  const SymbolTable *symbols;
} WeightOrder;

static int
compare_heavier_first (const void *a, const void *b, void *data)
{
  const WeightOrder *order = data;
  GraphSymbolId left = *(const GraphSymbolId *) a, right = *(const GraphSymbolId *) b;
  const SymbolWeight *heavy = &order->weights[left], *light = &order->weights[right];
  int result = 0;

  if (heavy->total != light->total)
    return heavy->total > light->total ? -1 : 1;
  if (heavy->self != light->self)
    return heavy->self > light->self ? -1 : 1;
  if (left < order->symbols->n && right < order->symbols->n)
    result = strcmp (sysprof_symbol_name (order->symbols, left),
                     sysprof_symbol_name (order->symbols, right));
  return result != 0 ? result : (left > right) - (left < right);
}

static bool
is_function (SysprofCallgraph *self, GraphSymbolId symbol)
{
  GraphSymbolSort sort = sysprof_graph_symbol (self->store, self->symbols, symbol).sort;

  if (sort == GRAPH_SYMBOL_FUNCTION)
    return self->symbols->row[symbol].kind != SYMBOL_MARKER;
  return sort == GRAPH_SYMBOL_UNWINDABLE;
}

/* *Takes* `symbols`, of which none are left if the thread's cancellable is canceled. */
static GListModel *
list_heavier_first (SysprofCallgraph *self,
                    const SymbolWeight *weights,
                    GArray *symbols,
                    gpointer owner,
                    IndexModelMake make)
{
  WeightOrder order = { weights, self->symbols };
  uint32_t n;

  if (!sysprof_sort_if_wanted (symbols->data, symbols->len, sizeof (uint32_t),
                               compare_heavier_first, &order))
    g_array_set_size (symbols, 0);
  n = symbols->len;
  return sysprof_index_model_new (owner, SYSPROF_TYPE_CALLGRAPH_SYMBOL, make,
                                  (uint32_t *) g_array_free (symbols, FALSE), n);
}

static gpointer
make_symbol (gpointer owner, uint32_t symbol)
{
  return sysprof_callgraph_symbol_new (owner, symbol, get_weights (owner)[symbol]);
}

GListModel *
sysprof_callgraph_list_symbols (SysprofCallgraph *self)
{
  const SymbolWeight *weights;
  GArray *symbols;

  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH (self), NULL);

  weights = get_weights (self);
  symbols = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  for (uint32_t i = 1; i < sysprof_graph_n_symbols (self->store, self->symbols); i++)
    if (weights[i].total > 0 && is_function (self, i))
      g_array_append_val (symbols, i);

  return list_heavier_first (self, weights, symbols, self, make_symbol);
}

/* Who calls a symbol, and how often; the list's items are made of it. */
typedef struct
{
  SysprofCallgraph *callgraph;
  SymbolWeight *weights; /* [n symbols] */
} Callers;

static void
callers_free (gpointer data)
{
  Callers *callers = data;

  g_free (callers->weights);
  g_free (callers);
}

static gpointer
make_caller (gpointer owner, uint32_t symbol)
{
  Callers *callers = g_object_get_data (owner, "callers");

  return sysprof_callgraph_symbol_new (callers->callgraph, symbol, callers->weights[symbol]);
}

/* A call counts once per stack: `end` of a caller is where what was counted for it ends. */
static void
add_call (const Graph *graph,
          SymbolWeight *weights,
          uint32_t *end,
          uint32_t caller,
          uint32_t callee)
{
  GraphSymbolId symbol = graph->symbol[caller];

  weights[symbol].self += graph->self[callee];
  if (callee < end[symbol])
    return;

  weights[symbol].total += graph->total[callee];
  end[symbol] = graph->end[callee];
}

GListModel *
sysprof_callgraph_list_callers (SysprofCallgraph *self, SysprofSymbol *symbol)
{
  g_autofree uint32_t *end = NULL;
  g_autoptr (GObject) owner = NULL;
  uint32_t n_symbols;
  const Graph *graph;
  GArray *symbols;
  Callers *callers;
  GraphSymbolId id;

  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH (self), NULL);
  g_return_val_if_fail (SYSPROF_IS_SYMBOL (symbol), NULL);

  graph = self->tree->graph;
  n_symbols = sysprof_graph_n_symbols (self->store, self->symbols);
  id = sysprof_document_find_symbol (self->document, symbol);
  callers = g_new (Callers, 1);
  *callers = (Callers){ self, g_new0 (SymbolWeight, n_symbols) };
  end = g_new0 (uint32_t, n_symbols);

  for (uint32_t i = 1; i < graph->n && id != 0; i++)
    {
      /* From the innermost function on, the one above is called by the one below. */
      bool is_reversed = (self->flags & SYSPROF_CALLGRAPH_FLAGS_BOTTOM_UP) != 0;
      uint32_t parent = graph->parent[i];

      if (!is_reversed && graph->symbol[i] == id && parent != 0)
        add_call (graph, callers->weights, end, parent, i);
      else if (is_reversed && graph->symbol[parent] == id &&
               is_function (self, graph->symbol[i]))
        {
          GraphSymbolId caller = graph->symbol[i];

          if (i >= end[caller])
            {
              callers->weights[caller].total += graph->total[i];
              end[caller] = graph->end[i];
            }
        }
    }

  symbols = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  for (uint32_t i = 1; i < n_symbols; i++)
    if (callers->weights[i].total > 0)
      g_array_append_val (symbols, i);

  /* What the items are made of lives as long as the list, which may outlive what the caller holds. */
  owner = g_object_new (G_TYPE_OBJECT, NULL);
  g_object_set_data_full (owner, "callers", callers, callers_free);
  g_object_set_data_full (owner, "callgraph", g_object_ref (self), g_object_unref);
  return list_heavier_first (self, callers->weights, symbols, owner, make_caller);
}

GListModel *
sysprof_callgraph_list_frames (SysprofCallgraph *self,
                               const Graph *graph,
                               const uint8_t *marks,
                               uint32_t begin,
                               uint32_t end)
{
  FrameNo *frames = g_new (FrameNo, MAX (graph->n_frames, 1));
  uint32_t n = 0;

  for (uint32_t i = 0; i < graph->n_frames; i++)
    {
      uint32_t node = graph->node_of_frame[i];

      if (node >= begin && node < end && node != GRAPH_NOWHERE &&
          (marks == NULL || marks[node] != 0))
        frames[n++] = self->frames.frame[i];
    }

  return sysprof_frame_model_new_take ((Store *) self->store,
                                       g_renew (FrameNo, frames, MAX (n, 1)), n,
                                       SYSPROF_TYPE_DOCUMENT_FRAME);
}

/* Of the nodes below those whose symbol is wanted. */
static GListModel *
list_frames_of_symbols (SysprofCallgraph *self, const uint8_t *is_wanted)
{
  const Graph *graph = self->tree->graph;
  g_autofree uint8_t *marks = g_new0 (uint8_t, graph->n);

  for (uint32_t i = 0; i < graph->n; i++)
    marks[i] = (i > 0 && marks[graph->parent[i]] != 0) || is_wanted[graph->symbol[i]] != 0;
  return sysprof_callgraph_list_frames (self, graph, marks, 0, graph->n);
}

GListModel *
sysprof_callgraph_list_traceables_for_symbol (SysprofCallgraph *self, SysprofSymbol *symbol)
{
  g_autofree uint8_t *is_wanted = NULL;
  GraphSymbolId id;

  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH (self), NULL);
  g_return_val_if_fail (SYSPROF_IS_SYMBOL (symbol), NULL);

  is_wanted = g_new0 (uint8_t, sysprof_graph_n_symbols (self->store, self->symbols));
  id = sysprof_document_find_symbol (self->document, symbol);
  is_wanted[id] = id != 0;
  return list_frames_of_symbols (self, is_wanted);
}

GListModel *
sysprof_callgraph_list_traceables_for_symbols_matching (SysprofCallgraph *self,
                                                        const char *pattern)
{
  g_autofree uint8_t *is_wanted = NULL;
  const SymbolWeight *weights;
  uint32_t n;

  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH (self), NULL);
  g_return_val_if_fail (pattern != NULL, NULL);

  n = sysprof_graph_n_symbols (self->store, self->symbols);
  weights = get_weights (self);
  is_wanted = g_new0 (uint8_t, n);
  for (uint32_t i = 1; i < n; i++)
    if (weights[i].total > 0)
      {
        g_autofree char *name = sysprof_graph_symbol_dup_name (self->store, self->symbols, i);

        is_wanted[i] = strstr (name, pattern) != NULL;
      }
  return list_frames_of_symbols (self, is_wanted);
}

gpointer
sysprof_callgraph_get_symbol_augment (SysprofCallgraph *self, GraphSymbolId symbol)
{
  if (self->augment_size == 0)
    return NULL;

  if (self->summary_augment == NULL)
    self->summary_augment =
        g_malloc0_n (sysprof_graph_n_symbols (self->store, self->symbols), self->augment_size);
  return self->summary_augment + symbol * self->augment_size;
}

gpointer
sysprof_callgraph_get_augment (SysprofCallgraph *self, SysprofCallgraphNode *node)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH (self), NULL);
  g_return_val_if_fail (node != NULL, NULL);

  return sysprof_graph_tree_get_augment (sysprof_graph_tree_of_node (node), node->index);
}

gpointer
sysprof_callgraph_get_summary_augment (SysprofCallgraph *self, SysprofCallgraphNode *node)
{
  const Graph *graph;

  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH (self), NULL);

  graph = node != NULL ? sysprof_graph_tree_of_node (node)->graph : self->tree->graph;
  return sysprof_callgraph_get_symbol_augment (self,
                                               graph->symbol[node != NULL ? node->index : 0]);
}

SysprofCallgraphNode *
sysprof_callgraph_node_parent (SysprofCallgraphNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  return node->index != 0 ? node - (node->index - node->parent) : NULL;
}

bool
sysprof_callgraph_is_left_heavy (SysprofCallgraph *self)
{
  return (self->flags & SYSPROF_CALLGRAPH_FLAGS_LEFT_HEAVY) != 0;
}

static void
sysprof_callgraph_finalize (GObject *object)
{
  SysprofCallgraph *self = SYSPROF_CALLGRAPH (object);

  if (self->augment_data_destroy != NULL)
    self->augment_data_destroy (self->augment_data);
  g_clear_pointer (&self->tree, sysprof_graph_tree_unref);
  g_free (self->summary_augment);
  g_free (self->weights);
  g_free (self->taken);
  g_clear_object (&self->document);

  G_OBJECT_CLASS (sysprof_callgraph_parent_class)->finalize (object);
}

static void
sysprof_callgraph_class_init (SysprofCallgraphClass *class)
{
  G_OBJECT_CLASS (class)->finalize = sysprof_callgraph_finalize;
}

static void
sysprof_callgraph_init (SysprofCallgraph *self)
{
}
