// SPDX-License-Identifier: GPL-3.0-or-later

/* The tree that a shape makes of stacks. All call trees, tables and graphs are projections of it.
 * *Frozen* once it is made, except for the weights.
 *
 * Nodes lie as one reads the tree: a node, all that is below it, its next sibling by name. Most of
 * them have one child and no stack that ends there, so they weigh what that child does. Such nodes
 * are one *run* with it. Only runs are weighed; there are several times fewer runs than nodes.
 *
 * Weights are kept as sums over the runs in their order: the weight of a run with all below it is
 * the difference of two sums, and nothing is pushed from node to node. */

#pragma once

#include "analyze/fold/entries.h"

typedef struct
{
  uint32_t n_runs;  /* the first one begins with the root */
  uint32_t *parent; /* [n_runs]; of the first: 0 */
  uint32_t *end;    /* [n_runs] the first run behind all below it */
  uint32_t *begin;  /* [n_runs + 1] the first node of each run */
  uint32_t n;       /* nodes */
  FoldKey *key;     /* [n]; 0 of the root alone */
  uint32_t *rank;   /* [n_keys] of those that occur: the order by name */
  int32_t *tids;    /* [n_tids] of the threads that have keys */
  uint64_t
      *sums; /* [n_runs + 2] weight of all runs before each; the last one also has the weight
                     * out of focus. At first that of the entries */
  uint64_t
      *light; /* [n_runs] weight of light children of the last node; NULL = none is light */
} FoldPlan;

/* Merges entries into nodes. Takes `rank` [n_keys], the order of the keys by name. Top down, nodes of
 * less weight than `least` are left out: their weight is only in the totals of their callers.
 * `run_of_entry` [entries->n] may be NULL; FOLD_NOWHERE is set where nothing ends. FALSE if
 * cancelled; to be cleared in any case. */
bool sysprof_fold_plan_init (FoldPlan *self,
                             const FoldEntries *entries,
                             uint32_t *rank,
                             uint32_t n_keys,
                             uint64_t least,
                             uint32_t *run_of_entry,
                             FoldWork *work);
/* The same for entries of store and symbols, of which it takes the threads. */
bool sysprof_fold_plan_init_stacks (FoldPlan *self,
                                    FoldEntries *entries,
                                    uint64_t least,
                                    uint32_t *run_of_entry,
                                    FoldWork *work);
void sysprof_fold_plan_clear (FoldPlan *self);

/* Weighs anew: `sums` has the weight of each run at [run + 1], that out of focus at [n_runs + 1].
 * FALSE if cancelled. */
bool sysprof_fold_plan_sum (FoldPlan *self, FoldWork *work);

/* The runs that begin with the children of the last node of `run`. */
#define FOLD_FOR_EACH_BELOW(plan, run, below) \
  for (uint32_t below = (run) + 1; below < (plan)->end[run]; below = (plan)->end[below])

static inline uint64_t
sysprof_fold_plan_total (const FoldPlan *self, uint32_t run)
{
  return self->sums[self->end[run]] - self->sums[run];
}

/* Of its last node. */
static inline uint64_t
sysprof_fold_plan_self (const FoldPlan *self, uint32_t run)
{
  return self->sums[run + 1] - self->sums[run] - (self->light != NULL ? self->light[run] : 0);
}

static inline uint32_t
sysprof_fold_plan_length (const FoldPlan *self, uint32_t run)
{
  return self->begin[run + 1] - self->begin[run];
}

/* All nodes that weigh something, heaviest siblings first. *(full)*; NULL if cancelled. */
CallTree *sysprof_fold_plan_dup_tree (const FoldPlan *self,
                                      const Store *store,
                                      const SymbolTable *symbols,
                                      FoldWork *work);

/* The run of a node. */
uint32_t sysprof_fold_plan_find_run (const FoldPlan *self, uint32_t node);

/* How many children a node has, and those that weigh something, heaviest first, then by name. There
 * is room for all. */
uint32_t sysprof_fold_plan_n_children (const FoldPlan *self, uint32_t node);
uint32_t
sysprof_fold_plan_sort_children (const FoldPlan *self, uint32_t node, uint32_t *children);

/* What a node stands for: a function has a `symbol`; of a process `id` is the ProcessId, of a thread
 * the tid. */
SymbolKind sysprof_fold_plan_get_kind (const FoldPlan *self,
                                       const Store *store,
                                       const SymbolTable *symbols,
                                       uint32_t node,
                                       SymbolId *symbol,
                                       uint32_t *id);
