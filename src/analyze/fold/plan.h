// SPDX-License-Identifier: GPL-3.0-or-later

/* The tree that a shape makes of stacks, whatever they weigh. *Frozen* once it is made.
 *
 * Nodes lie as one reads the tree: a node, all that is below it, its next sibling by name. Most of them have one child
 * and no stack that ends there, so they weigh what that child does. Such nodes are one *run* with it: runs are what is
 * weighed, several times fewer than nodes.
 *
 * Weights are kept as sums over the runs in their order: what a run weighs with all below it is the difference of two of
 * them, and nothing is pushed from node to node. */

#pragma once

#include "analyze/fold/forest.h"

typedef struct
{
  uint32_t n;       /* the first one begins with the root */
  uint32_t *parent; /* [n]; of the first: 0 */
  uint32_t *end;    /* [n] the first run behind all below it */
  uint32_t *of_end; /* [n_ends] at whose last node it ends; `n` = out of focus */
} FoldRuns;

typedef struct
{
  FoldRuns runs;
  uint32_t *begin; /* [runs.n + 1] the first node of each run */
  FoldKey *key;    /* [n]; 0 of the root alone */
  uint32_t n;
  uint32_t *rank; /* [n_keys] of those that occur: the order by name */
  int32_t *tids;  /* [n_tids] of the threads that have keys */
} FoldPlan;

/* FALSE if cancelled; to be cleared in any case. */
bool sysprof_fold_plan_init (FoldPlan *self,
                             const Store *store,
                             const SymbolTable *symbols,
                             const TreeShape *shape,
                             const FoldEnds *ends,
                             FoldWork *work);
/* The same for a forest, whose field `parent` is overwritten. Takes `rank` [n_keys]. */
bool sysprof_fold_plan_init_forest (FoldPlan *self,
                                    FoldForest *forest,
                                    uint32_t *rank,
                                    uint32_t n_keys,
                                    uint32_t n_ends,
                                    FoldWork *work);
void sysprof_fold_plan_clear (FoldPlan *self);

/* The same for a table: of the nodes only what counts to its rows is kept. */
typedef struct
{
  FoldRuns runs;
  uint32_t *begin;    /* [runs.n + 1] the first of each run's */
  SymbolId *row;      /* rows to which all that passes a run counts */
  SymbolId *row_here; /* [runs.n] the row to which what ends at the run counts, 0 = none */
  uint32_t *rank;     /* [n_keys] of those that occur: the order by name */
} FoldTablePlan;

/* FALSE if cancelled; to be cleared in any case. */
bool sysprof_fold_table_plan_init (FoldTablePlan *self,
                                   const Store *store,
                                   const SymbolTable *symbols,
                                   const TreeShape *shape,
                                   const FoldRequest *question,
                                   const FoldEnds *ends,
                                   FoldWork *work);
void sysprof_fold_table_plan_clear (FoldTablePlan *self);

/* *(full)* [runs->n + 2] zeros. The weight of ends is added at [run + 1], that of ends out
 * of focus after the last run. */
uint64_t *sysprof_fold_runs_new_sums (const FoldRuns *self);
/* Makes sums of them: [run] is what all runs before it weigh, the last one is all. FALSE if cancelled. */
bool sysprof_fold_runs_sum (const FoldRuns *self, uint64_t *sums, FoldWork *work);

/* The runs that begin with the children of the last node of `run`. */
#define FOLD_FOR_EACH_BELOW(runs, run, below) \
  for (uint32_t below = (run) + 1; below < (runs)->end[run]; below = (runs)->end[below])

static inline uint64_t
sysprof_fold_runs_total (const FoldRuns *self, const uint64_t *sums, uint32_t run)
{
  return sums[self->end[run]] - sums[run];
}

/* All nodes that weigh something, heaviest siblings first. *(full)*; NULL if cancelled. */
CallTree *sysprof_fold_plan_dup_tree (const FoldPlan *self,
                                      const Store *store,
                                      const SymbolTable *symbols,
                                      const uint64_t *sums,
                                      FoldWork *work);

/* The rows of a table. *(full)*; NULL if cancelled. */
FunctionTable *sysprof_fold_table_plan_dup_table (const FoldTablePlan *self,
                                                  const SymbolTable *symbols,
                                                  const uint64_t *sums,
                                                  FoldWork *work);

/* The run of a node. */
uint32_t sysprof_fold_plan_find_run (const FoldPlan *self, uint32_t node);

/* How many children a node has, and those that weigh something, heaviest first, then by name. There is room for all. */
uint32_t sysprof_fold_plan_n_children (const FoldPlan *self, uint32_t node);
uint32_t sysprof_fold_plan_sort_children (const FoldPlan *self,
                                          const uint64_t *sums,
                                          uint32_t node,
                                          uint32_t *children);

/* What a node stands for: a function has a `symbol`; of a process `id` is the ProcessId, of a thread the tid. */
SymbolKind sysprof_fold_plan_get_kind (const FoldPlan *self,
                                       const Store *store,
                                       const SymbolTable *symbols,
                                       uint32_t node,
                                       SymbolId *symbol,
                                       uint32_t *id);
