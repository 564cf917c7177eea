// SPDX-License-Identifier: GPL-3.0-or-later

/* The tree that a shape makes of stacks, whatever they weigh. *Frozen* once it is made.
 *
 * Nodes lie by depth: a parent before its children, all children of one node together, those of the node before it
 * before them. So children need no links, and weights are pushed to the root by a pass over memory from its end to its
 * front, for the nodes as for their parents. */

#pragma once

#include "analyze/fold-forest.h"

typedef struct
{
  uint32_t *parent; /* [n]; of the root: 0 */
  uint32_t
      *first_child; /* [n + 1] the children of i, by name, end where those of i + 1 begin */
  FoldKey *key;     /* [n]; 0 of the root alone */
  uint32_t *row;    /* [n] as ForestNode.row, or NULL: not for a table */
  uint32_t n;
  uint32_t *node_of_end; /* [n_ends] FOLD_NOWHERE = out of focus */
  uint32_t *rank;        /* [n_keys] of those that occur: the order by name */
  int32_t *tids;         /* [n_tids] of the threads that have keys */
} FoldPlan;

/* FALSE if cancelled; to be cleared in any case. With a `question` the shape is that of sysprof_fold_table_shape(). */
bool sysprof_fold_plan_init (FoldPlan *self,
                             const Store *store,
                             const SymbolTable *symbols,
                             const TreeShape *shape,
                             const FoldQuestion *question, /* or NULL */
                             const FoldEnds *ends,
                             FoldWork *work);
void sysprof_fold_plan_clear (FoldPlan *self);

/* Adds to the parents what their children weigh: `total` [n] becomes sums from what ends at each node. */
bool sysprof_fold_plan_push (const FoldPlan *self, uint64_t *total, FoldWork *work);

/* All nodes that weigh something, heaviest siblings first. *(full)*; NULL if cancelled. */
CallTree *sysprof_fold_plan_dup_tree (const FoldPlan *self,
                                      const Store *store,
                                      const SymbolTable *symbols,
                                      const uint64_t *total,
                                      FoldWork *work);

/* The children of `node` that weigh something, heaviest first, then by name; returns how many. There is room for all. */
uint32_t sysprof_fold_plan_sort_children (const FoldPlan *self,
                                          const uint64_t *total,
                                          uint32_t node,
                                          uint32_t *children);

/* What a node stands for: a function has a `symbol`; of a process `id` is the ProcessId, of a thread the tid. */
SymbolKind sysprof_fold_plan_get_kind (const FoldPlan *self,
                                       const Store *store,
                                       const SymbolTable *symbols,
                                       uint32_t node,
                                       SymbolId *symbol,
                                       uint32_t *id);
