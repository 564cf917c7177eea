// SPDX-License-Identifier: GPL-3.0-or-later

#include "analyze/graph-nodes.h"
#include "analyze/call-order.h"

#include <stdlib.h>
#include <string.h>

void
sysprof_graph_nodes_init (GraphNodes *self, GraphSymbolId symbol)
{
  *self = (GraphNodes){ .n = 1, .capacity = 1024 };
  self->parent = g_new0 (uint32_t, self->capacity);
  self->symbol = g_new0 (GraphSymbolId, self->capacity);
  self->symbol[0] = symbol;
  sysprof_node_set_init (&self->children);
}

void
sysprof_graph_nodes_clear (GraphNodes *self)
{
  sysprof_node_set_clear (&self->children);
  g_free (self->parent);
  g_free (self->symbol);
  *self = (GraphNodes){ 0 };
}

uint32_t
sysprof_graph_nodes_child (GraphNodes *self, uint32_t parent, GraphSymbolId symbol)
{
  uint32_t node = sysprof_node_set_find_or_add (&self->children, parent, symbol, self->n);

  if (node < self->n)
    return node;

  if (self->n == self->capacity)
    {
      self->capacity *= 2;
      self->parent = g_renew (uint32_t, self->parent, self->capacity);
      self->symbol = g_renew (GraphSymbolId, self->symbol, self->capacity);
    }
  self->parent[self->n] = parent;
  self->symbol[self->n] = symbol;
  return self->n++;
}

typedef struct
{
  const GraphNodes *nodes;
  const Store *store;
  const SymbolTable *symbols;
  const uint32_t *total; /* [nodes->n] */
  bool left_heavy;
} Order;

static int
compare_numbers (uint64_t a, uint64_t b)
{
  return (a > b) - (a < b);
}

static int
compare_symbols (const Order *order, GraphSymbolId a, GraphSymbolId b)
{
  GraphSymbol left, right;
  g_autofree char *left_name = NULL;
  g_autofree char *right_name = NULL;
  int result = 0;

  if (a < order->symbols->n && b < order->symbols->n)
    return sysprof_symbol_compare (order->symbols, a, b);

  left = sysprof_graph_symbol (order->store, order->symbols, a);
  right = sysprof_graph_symbol (order->store, order->symbols, b);
  if (left.sort != GRAPH_SYMBOL_THREAD || right.sort != GRAPH_SYMBOL_THREAD)
    {
      left_name = sysprof_graph_symbol_dup_name (order->store, order->symbols, a);
      right_name = sysprof_graph_symbol_dup_name (order->store, order->symbols, b);
      result = strcmp (left_name, right_name);
    }
  return result != 0 ? result : compare_numbers (a, b);
}

static int
compare_nodes (const void *a, const void *b, void *data)
{
  const Order *order = data;
  uint32_t left = *(const uint32_t *) a, right = *(const uint32_t *) b;

  if (order->left_heavy && order->total[left] != order->total[right])
    return compare_numbers (order->total[right], order->total[left]);
  return compare_symbols (order, order->nodes->symbol[left], order->nodes->symbol[right]);
}

/* Children of node i: `child` from `first_child[i]` on, sorted. FALSE if cancelled. */
static bool
find_children (const Order *order,
               uint32_t *first_child,
               uint32_t *child,
               GCancellable *cancellable)
{
  const GraphNodes *nodes = order->nodes;
  g_autofree uint32_t *next = g_new (uint32_t, nodes->n);

  memset (first_child, 0, ((size_t) nodes->n + 1) * sizeof *first_child);
  for (uint32_t i = 1; i < nodes->n; i++)
    first_child[nodes->parent[i] + 1]++;
  for (uint32_t i = 0; i < nodes->n; i++)
    first_child[i + 1] += first_child[i];

  memcpy (next, first_child, nodes->n * sizeof *next);
  for (uint32_t i = 1; i < nodes->n; i++)
    child[next[nodes->parent[i]]++] = i;
  for (uint32_t i = 0; i < nodes->n; i++)
    {
      if (first_child[i + 1] - first_child[i] > 1)
        qsort_r (child + first_child[i], first_child[i + 1] - first_child[i], sizeof *child,
                 compare_nodes, (void *) order);
      if (i % GRAPH_STEP == 0 && g_cancellable_is_cancelled (cancellable))
        return false;
    }
  return true;
}

/* place[i]: where node i goes. size[i]: of the node and all below it. */
static uint32_t *
lay_out (const GraphNodes *nodes,
         const uint32_t *first_child,
         const uint32_t *child,
         const uint32_t *size)
{
  uint32_t *place = g_new0 (uint32_t, nodes->n);

  /* A parent is placed before its children are: they have greater numbers. */
  for (uint32_t i = 0; i < nodes->n; i++)
    {
      uint32_t at = place[i] + 1;

      for (uint32_t j = first_child[i]; j < first_child[i + 1]; j++)
        {
          place[child[j]] = at;
          at += size[child[j]];
        }
    }
  return place;
}

static void
fill_nodes (Graph *graph, const GraphNodes *nodes, const uint32_t *place, const uint32_t *size)
{
  for (uint32_t i = 0; i < nodes->n; i++)
    {
      uint32_t at = place[i];

      graph->parent[at] = place[nodes->parent[i]];
      graph->symbol[at] = nodes->symbol[i];
      graph->end[at] = at + size[i];
    }
}

static void
fill_children (Graph *graph)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < graph->n; i++)
    {
      graph->first_child[i] = n;
      for (uint32_t at = i + 1; at < graph->end[i]; at = graph->end[at])
        graph->child[n++] = at;
    }
  graph->first_child[graph->n] = n;
}

Graph *
sysprof_graph_nodes_finish (GraphNodes *self,
                            const Store *store,
                            const SymbolTable *symbols,
                            bool left_heavy,
                            const uint32_t *node_of_frame,
                            uint32_t n_frames,
                            GCancellable *cancellable)
{
  g_autofree uint32_t *self_weight = g_new0 (uint32_t, self->n);
  g_autofree uint32_t *total = NULL;
  g_autofree uint32_t *size = g_new (uint32_t, self->n);
  g_autofree uint32_t *place = NULL;
  Graph *graph = g_new0 (Graph, 1);
  Order order = { self, store, symbols, NULL, left_heavy };

  for (uint32_t i = 0; i < n_frames; i++)
    if (node_of_frame[i] != GRAPH_NOWHERE)
      self_weight[node_of_frame[i]]++;
  order.total = total = g_memdup2 (self_weight, self->n * sizeof *self_weight);
  for (uint32_t i = 0; i < self->n; i++)
    size[i] = 1;
  for (uint32_t i = self->n - 1; i > 0; i--)
    {
      total[self->parent[i]] += total[i];
      size[self->parent[i]] += size[i];
    }

  *graph = (Graph){
    .n = self->n,
    .n_frames = n_frames,
    .parent = g_new (uint32_t, self->n),
    .end = g_new (uint32_t, self->n),
    .symbol = g_new (GraphSymbolId, self->n),
    .first_child = g_new (uint32_t, (size_t) self->n + 1),
    .child = g_new (uint32_t, self->n),
    .self = g_new (uint32_t, self->n),
    .total = g_new (uint32_t, self->n),
    .node_of_frame = g_new (uint32_t, MAX (n_frames, 1)),
  };
  if (!find_children (&order, graph->first_child, graph->child, cancellable))
    {
      g_clear_pointer (&graph, sysprof_graph_free);
      goto out;
    }
  place = lay_out (self, graph->first_child, graph->child, size);
  fill_nodes (graph, self, place, size);
  fill_children (graph);
  for (uint32_t i = 0; i < self->n; i++)
    {
      graph->self[place[i]] = self_weight[i];
      graph->total[place[i]] = total[i];
    }
  for (uint32_t i = 0; i < n_frames; i++)
    graph->node_of_frame[i] =
        node_of_frame[i] != GRAPH_NOWHERE ? place[node_of_frame[i]] : GRAPH_NOWHERE;

out:
  sysprof_graph_nodes_clear (self);
  return graph;
}

void
sysprof_graph_free (Graph *self)
{
  if (self == NULL)
    return;

  g_free (self->parent);
  g_free (self->end);
  g_free (self->symbol);
  g_free (self->first_child);
  g_free (self->child);
  g_free (self->self);
  g_free (self->total);
  g_free (self->node_of_frame);
  g_free (self);
}
