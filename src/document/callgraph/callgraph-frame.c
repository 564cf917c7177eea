// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofCallgraphFrame: a node of a call graph and, as a list model, its children. Objects
 * are made on demand. */

#include "document/callgraph/callgraph.h"
#include "document/properties.h"

struct _SysprofCallgraphFrame
{
  GObject parent_instance;
  SysprofCallgraph *callgraph;
  GraphTree *tree;
  uint32_t node;
};

static GType
sysprof_callgraph_frame_get_item_type (GListModel *model)
{
  return SYSPROF_TYPE_CALLGRAPH_FRAME;
}

static guint
sysprof_callgraph_frame_get_n_items (GListModel *model)
{
  SysprofCallgraphFrame *self = SYSPROF_CALLGRAPH_FRAME (model);
  const uint32_t *first_child = self->tree->graph->first_child;

  return first_child[self->node + 1] - first_child[self->node];
}

static gpointer
sysprof_callgraph_frame_get_item (GListModel *model, guint position)
{
  SysprofCallgraphFrame *self = SYSPROF_CALLGRAPH_FRAME (model);
  const Graph *graph = self->tree->graph;

  if (position >= sysprof_callgraph_frame_get_n_items (model))
    return NULL;

  return sysprof_callgraph_frame_new (self->callgraph, self->tree,
                                      graph->child[graph->first_child[self->node] + position]);
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = sysprof_callgraph_frame_get_item_type;
  interface->get_n_items = sysprof_callgraph_frame_get_n_items;
  interface->get_item = sysprof_callgraph_frame_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (SysprofCallgraphFrame,
                               sysprof_callgraph_frame,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

SysprofCallgraphFrame *
sysprof_callgraph_frame_new (SysprofCallgraph *callgraph, GraphTree *tree, uint32_t node)
{
  SysprofCallgraphFrame *self = g_object_new (SYSPROF_TYPE_CALLGRAPH_FRAME, NULL);

  self->callgraph = g_object_ref (callgraph);
  self->tree = sysprof_graph_tree_ref (tree);
  self->node = node;
  return self;
}

SysprofSymbol *
sysprof_callgraph_frame_get_symbol (SysprofCallgraphFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), NULL);

  return sysprof_document_get_symbol (self->callgraph->document,
                                      self->tree->graph->symbol[self->node]);
}

SysprofCallgraph *
sysprof_callgraph_frame_get_callgraph (SysprofCallgraphFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), NULL);

  return self->callgraph;
}

static SysprofCallgraphCategory
category_of (const GraphTree *tree, uint32_t node)
{
  return tree->category != NULL ? (SysprofCallgraphCategory) tree->category[node]
                                : SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED;
}

SysprofCallgraphCategory
sysprof_callgraph_frame_get_category (SysprofCallgraphFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self),
                        SYSPROF_CALLGRAPH_CATEGORY_UNCATEGORIZED);

  return category_of (self->tree, self->node);
}

gpointer
sysprof_callgraph_frame_get_augment (SysprofCallgraphFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), NULL);

  return sysprof_graph_tree_get_augment (self->tree, self->node);
}

gpointer
sysprof_callgraph_frame_get_summary_augment (SysprofCallgraphFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), NULL);

  return sysprof_callgraph_get_symbol_augment (self->callgraph,
                                               self->tree->graph->symbol[self->node]);
}

gboolean
sysprof_callgraph_frame_is_leaf (SysprofCallgraphFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), FALSE);

  return sysprof_callgraph_frame_get_n_items (G_LIST_MODEL (self)) == 0;
}

guint64
sysprof_callgraph_frame_get_self (SysprofCallgraphFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), 0);

  return self->tree->graph->self[self->node];
}

guint64
sysprof_callgraph_frame_get_total (SysprofCallgraphFrame *self)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), 0);

  return self->tree->graph->total[self->node];
}

static const GraphSums *
sums_of (SysprofCallgraphFrame *self, SysprofDocumentColumn column)
{
  return sysprof_graph_tree_get_sums (self->tree, self->callgraph, column);
}

gint64
sysprof_callgraph_frame_sum_self (SysprofCallgraphFrame *self, SysprofDocumentColumn column)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), 0);
  g_return_val_if_fail (column > 0 && column < N_COLUMNS, 0);

  return sums_of (self, column)->self[self->node];
}

gint64
sysprof_callgraph_frame_sum_total (SysprofCallgraphFrame *self, SysprofDocumentColumn column)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), 0);
  g_return_val_if_fail (column > 0 && column < N_COLUMNS, 0);

  return sums_of (self, column)->total[self->node];
}

GBytes *
sysprof_callgraph_frame_dup_nodes (SysprofCallgraphFrame *self, SysprofDocumentColumn column)
{
  g_return_val_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self), NULL);
  g_return_val_if_fail (column > 0 && column < N_COLUMNS, NULL);

  return sysprof_graph_tree_dup_nodes (self->tree, self->callgraph, self->node, column);
}

void
sysprof_callgraph_frame_list_traceables_async (SysprofCallgraphFrame *self,
                                               GCancellable *cancellable,
                                               GAsyncReadyCallback callback,
                                               gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  const Graph *graph;

  g_return_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sysprof_callgraph_frame_list_traceables_async);
  graph = self->tree->graph;
  g_task_return_pointer (task,
                         sysprof_callgraph_list_frames (self->callgraph, graph, NULL,
                                                        self->node, graph->end[self->node]),
                         g_object_unref);
}

GListModel *
sysprof_callgraph_frame_list_traceables_finish (SysprofCallgraphFrame *self,
                                                GAsyncResult *result,
                                                GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

static int
compare_greater_share (gconstpointer a, gconstpointer b, gpointer data)
{
  double left = sysprof_category_summary_get_fraction ((SysprofCategorySummary *) a);
  double right = sysprof_category_summary_get_fraction ((SysprofCategorySummary *) b);

  return (left < right) - (left > right);
}

static GListModel *
summarize (SysprofCallgraphFrame *self)
{
  const Graph *graph = self->tree->graph;
  uint64_t sums[SYSPROF_CALLGRAPH_CATEGORY_LAST] = { 0 };
  GListStore *list = g_list_store_new (SYSPROF_TYPE_CATEGORY_SUMMARY);

  for (uint32_t i = self->node; i < graph->end[self->node]; i++)
    if (self->tree->category_of_end != NULL)
      sums[self->tree->category_of_end[i]] += graph->self[i];
    else
      sums[category_of (self->tree, i)] += graph->self[i];

  for (unsigned i = 0; i < SYSPROF_CALLGRAPH_CATEGORY_LAST; i++)
    if (sums[i] > 0)
      {
        g_autoptr (SysprofCategorySummary) summary = sysprof_category_summary_new (
            (SysprofCallgraphCategory) i, (double) sums[i] / graph->total[self->node]);

        g_list_store_insert_sorted (list, summary, compare_greater_share, NULL);
      }
  return G_LIST_MODEL (list);
}

void
sysprof_callgraph_frame_summarize_async (SysprofCallgraphFrame *self,
                                         GCancellable *cancellable,
                                         GAsyncReadyCallback callback,
                                         gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (SYSPROF_IS_CALLGRAPH_FRAME (self));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sysprof_callgraph_frame_summarize_async);
  g_task_return_pointer (task, summarize (self), g_object_unref);
}

GListModel *
sysprof_callgraph_frame_summarize_finish (SysprofCallgraphFrame *self,
                                          GAsyncResult *result,
                                          GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

static guint
count_children (gpointer self)
{
  return sysprof_callgraph_frame_get_n_items (self);
}

static void
sysprof_callgraph_frame_finalize (GObject *object)
{
  SysprofCallgraphFrame *self = SYSPROF_CALLGRAPH_FRAME (object);

  g_clear_pointer (&self->tree, sysprof_graph_tree_unref);
  g_clear_object (&self->callgraph);

  G_OBJECT_CLASS (sysprof_callgraph_frame_parent_class)->finalize (object);
}

static void
sysprof_callgraph_frame_class_init (SysprofCallgraphFrameClass *class)
{
  static const PropertyRow rows[] = {
    { "callgraph", PROPERTY_OBJECT, G_CALLBACK (sysprof_callgraph_frame_get_callgraph),
      sysprof_callgraph_get_type },
    { "category", PROPERTY_ENUM, G_CALLBACK (sysprof_callgraph_frame_get_category),
      sysprof_callgraph_category_get_type },
    { "n-items", PROPERTY_UINT, G_CALLBACK (count_children) },
    { "self", PROPERTY_UINT64, G_CALLBACK (sysprof_callgraph_frame_get_self) },
    { "symbol", PROPERTY_OBJECT, G_CALLBACK (sysprof_callgraph_frame_get_symbol),
      sysprof_symbol_get_type },
    { "total", PROPERTY_UINT64, G_CALLBACK (sysprof_callgraph_frame_get_total) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_callgraph_frame_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_callgraph_frame_init (SysprofCallgraphFrame *self)
{
}
