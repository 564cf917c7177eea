// SPDX-License-Identifier: GPL-3.0-or-later

/* A graph of the engine, seen as objects.
 *
 * sysprof_document_callgraph_async() builds the graph on a worker; then the caller's own weights are added by its
 * function in its own thread, some milliseconds at a time. Callgraph, frames and symbols only read frozen data, but for
 * the areas of weights, which belong to the caller. */

#pragma once

#include "document/objects.h"

struct _SysprofCallgraphNode
{
  uint32_t index; /* in its tree */
  uint32_t parent;
};

/* Sums of a column. */
typedef struct
{
  int64_t *self;  /* [graph->n] of the frames whose stack ends there */
  int64_t *total; /* [graph->n] of those whose stack passes there, too */
} GraphSums;

#define N_COLUMNS (SYSPROF_DOCUMENT_COLUMN_WEIGHT + 1)

/* The graph itself, or one derived from it, with the caller's areas. *Frozen* but for those. */
typedef struct
{
  gatomicrefcount n_references;
  Graph *graph;
  uint8_t *category; /* [graph->n] SysprofCallgraphCategory, or NULL */
  uint8_t *
      category_of_end; /* [graph->n] of the innermost function of what ends there; NULL: the above */
  struct NodeBlock *nodes; /* NULL unless weights are added */
  size_t augment_size;
  uint8_t *augment;           /* [graph->n * augment_size] or NULL */
  GraphSums *sums[N_COLUMNS]; /* NULL until used */
} GraphTree;

typedef struct NodeBlock
{
  GraphTree *tree;
  SysprofCallgraphNode node[]; /* [tree->graph->n] */
} NodeBlock;

/* Takes the graph. */
GraphTree *sysprof_graph_tree_new (Graph *graph, size_t augment_size);
GraphTree *sysprof_graph_tree_ref (GraphTree *self);
void sysprof_graph_tree_unref (GraphTree *self);
GraphTree *sysprof_graph_tree_of_node (SysprofCallgraphNode *node);
SysprofCallgraphNode *sysprof_graph_tree_get_node (GraphTree *self, uint32_t node);
gpointer sysprof_graph_tree_get_augment (GraphTree *self, uint32_t node);
const GraphSums *sysprof_graph_tree_get_sums (GraphTree *self,
                                              SysprofCallgraph *callgraph,
                                              SysprofDocumentColumn column);
void sysprof_graph_sums_free (GraphSums *self);
/* *(full)* See sysprof_callgraph_frame_dup_nodes(). */
GBytes *sysprof_graph_tree_dup_nodes (GraphTree *self,
                                      SysprofCallgraph *callgraph,
                                      uint32_t node,
                                      SysprofDocumentColumn column);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GraphTree, sysprof_graph_tree_unref)

typedef struct
{
  uint32_t self;
  uint32_t total;
} SymbolWeight;

struct _SysprofCallgraph
{
  GObject parent_instance;
  SysprofDocument *document;
  const Store *store;
  SymbolTable *symbols;
  SysprofCallgraphFlags flags;
  FrameList frames; /* in the order they were given */
  FrameNo *taken;   /* what `frames` points to */
  GraphTree *tree;
  size_t augment_size;
  SysprofAugmentationFunc augment;
  gpointer augment_data;
  GDestroyNotify augment_data_destroy;
  uint8_t *summary_augment; /* [n symbols * augment_size] or NULL */
  SymbolWeight *weights;    /* [n symbols] NULL until used */
};

gpointer sysprof_callgraph_get_symbol_augment (SysprofCallgraph *self, GraphSymbolId symbol);
bool sysprof_callgraph_is_left_heavy (SysprofCallgraph *self);

/* The given frames that pass a node in [begin, end) of those marked. `marks` [graph->n] or NULL: all are. */
GListModel *sysprof_callgraph_list_frames (SysprofCallgraph *self,
                                           const Graph *graph,
                                           const uint8_t *marks,
                                           uint32_t begin,
                                           uint32_t end);

/* Calls the caller's function for all frames of the tree, in the thread of the task; then returns `result` with it,
 * which it takes. */
void sysprof_callgraph_add_weights (SysprofCallgraph *self,
                                    GraphTree *tree,
                                    bool summarize,
                                    GTask *task,
                                    gpointer result);

/* *(full)* */
SysprofCallgraphFrame *
sysprof_callgraph_frame_new (SysprofCallgraph *callgraph, GraphTree *tree, uint32_t node);
SysprofCallgraphSymbol *sysprof_callgraph_symbol_new (SysprofCallgraph *callgraph,
                                                      GraphSymbolId symbol,
                                                      SymbolWeight weight);
SysprofCategorySummary *sysprof_category_summary_new (SysprofCallgraphCategory category,
                                                      double fraction);

/* [graph->n] *(full)* The category of each node. */
uint8_t *sysprof_graph_categorize (const Graph *graph,
                                   const Store *store,
                                   const SymbolTable *symbols,
                                   bool bottom_up);
/* [graph->n] *(full)* Of a graph that is bottom up, for each node at which stacks end: the category of their innermost
 * function, as its callers make it. */
uint8_t *sysprof_graph_categorize_ends (const Graph *graph,
                                        const Store *store,
                                        const SymbolTable *symbols);
