// SPDX-License-Identifier: GPL-3.0-or-later

/* Weights that need no function of the caller's: sums of a column along the graph. */

#include "document/callgraph/callgraph.h"

static GraphSums *
sum_column (const Graph *graph, const int64_t *values)
{
  GraphSums *sums = g_new (GraphSums, 1);

  sums->self = g_new0 (int64_t, graph->n);
  for (uint32_t i = 0; i < graph->n_frames; i++)
    if (graph->node_of_frame[i] != GRAPH_NOWHERE)
      sums->self[graph->node_of_frame[i]] += values[i];

  sums->total = g_memdup2 (sums->self, graph->n * sizeof *sums->self);
  for (uint32_t i = graph->n - 1; i > 0; i--)
    sums->total[graph->parent[i]] += sums->total[i];
  return sums;
}

const GraphSums *
sysprof_graph_tree_get_sums (GraphTree *self,
                             SysprofCallgraph *callgraph,
                             SysprofDocumentColumn column)
{
  g_autofree int64_t *values = NULL;

  if (self->sums[column] == NULL)
    {
      values = sysprof_document_read_column (callgraph->store, &callgraph->frames, column);
      self->sums[column] = sum_column (self->graph, values);
    }
  return self->sums[column];
}

void
sysprof_graph_sums_free (GraphSums *self)
{
  if (self == NULL)
    return;

  g_free (self->self);
  g_free (self->total);
  g_free (self);
}

GBytes *
sysprof_graph_tree_dup_nodes (GraphTree *self,
                              SysprofCallgraph *callgraph,
                              uint32_t node,
                              SysprofDocumentColumn column)
{
  const Graph *graph = self->graph;
  const GraphSums *sums = sysprof_graph_tree_get_sums (self, callgraph, column);
  uint32_t n = graph->end[node] - node;
  int64_t *numbers = g_new (int64_t, (size_t) n * 4);

  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t at = node + i;

      numbers[4 * (size_t) i] = i > 0 ? (int64_t) graph->parent[at] - node : -1;
      numbers[4 * (size_t) i + 1] = graph->symbol[at];
      numbers[4 * (size_t) i + 2] = sums->self[at];
      numbers[4 * (size_t) i + 3] = sums->total[at];
    }
  return g_bytes_new_take (numbers, (gsize) n * 4 * sizeof (int64_t));
}
