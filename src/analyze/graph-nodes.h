// SPDX-License-Identifier: GPL-3.0-or-later

/* Nodes while they are made: callers before callees, in no other order. *Owned* by the builder of one graph. */

#pragma once

#include "analyze/graph.h"
#include "analyze/node-set.h"

typedef struct
{
  uint32_t *parent;      /* [n] */
  GraphSymbolId *symbol; /* [n] */
  uint32_t n;
  uint32_t capacity;
  NodeSet children;
} GraphNodes;

/* With a root of that symbol. */
void sysprof_graph_nodes_init (GraphNodes *self, GraphSymbolId symbol);

void sysprof_graph_nodes_clear (GraphNodes *self);

/* The child of `parent` for `symbol`, which is made if it is new. */
uint32_t sysprof_graph_nodes_child (GraphNodes *self, uint32_t parent, GraphSymbolId symbol);

/* Between two looks whether the work was cancelled. */
#define GRAPH_STEP 0x1000

/* Clears `self`. NULL if cancelled. `node_of_frame` [n_frames] is in terms of these nodes, or GRAPH_NOWHERE. */
Graph *sysprof_graph_nodes_finish (GraphNodes *self,
                                   const Store *store,
                                   const SymbolTable *symbols,
                                   bool left_heavy,
                                   const uint32_t *node_of_frame,
                                   uint32_t n_frames,
                                   GCancellable *cancellable);
