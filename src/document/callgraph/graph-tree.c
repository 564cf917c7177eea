// SPDX-License-Identifier: GPL-3.0-or-later

/* The tree that the frames of one call graph share, counted by reference. */

#include "document/callgraph/callgraph.h"

GraphTree *
sysprof_graph_tree_new (Graph *graph, size_t augment_size)
{
  GraphTree *self = g_new0 (GraphTree, 1);

  g_atomic_ref_count_init (&self->n_references);
  self->graph = graph;
  self->augment_size = augment_size;
  return self;
}

GraphTree *
sysprof_graph_tree_ref (GraphTree *self)
{
  g_atomic_ref_count_inc (&self->n_references);
  return self;
}

void
sysprof_graph_tree_unref (GraphTree *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->n_references))
    return;

  sysprof_graph_free (self->graph);
  g_free (self->category);
  g_free (self->category_of_end);
  g_free (self->nodes);
  g_free (self->augment);
  for (size_t i = 0; i < G_N_ELEMENTS (self->sums); i++)
    sysprof_graph_sums_free (self->sums[i]);
  g_free (self);
}

SysprofCallgraphNode *
sysprof_graph_tree_get_node (GraphTree *self, uint32_t node)
{
  if (self->nodes == NULL)
    {
      const Graph *graph = self->graph;

      self->nodes = g_malloc (sizeof (NodeBlock) + graph->n * sizeof (SysprofCallgraphNode));
      self->nodes->tree = self;
      for (uint32_t i = 0; i < graph->n; i++)
        self->nodes->node[i] = (SysprofCallgraphNode){ i, graph->parent[i] };
    }

  return &self->nodes->node[node];
}

GraphTree *
sysprof_graph_tree_of_node (SysprofCallgraphNode *node)
{
  NodeBlock *block = (NodeBlock *) ((char *) (node - node->index) - offsetof (NodeBlock, node));

  return block->tree;
}

gpointer
sysprof_graph_tree_get_augment (GraphTree *self, uint32_t node)
{
  if (self->augment_size == 0)
    return NULL;

  /* Nobody touches most of it where few nodes are weighed, and then it takes no memory. */
  if (self->augment == NULL)
    self->augment = g_malloc0_n (self->graph->n, self->augment_size);
  return self->augment + node * self->augment_size;
}
