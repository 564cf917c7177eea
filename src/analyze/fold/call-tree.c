// SPDX-License-Identifier: GPL-3.0-or-later

/* The call tree of a selection: nodes in arrays, labels of nodes, and the tree above a
 * function. */

#include "analyze/fold/heavy-tree.h"
#include "analyze/fold/plan.h"
#include "analyze/fold/work.h"

/* What weighs something, as a plan wants it. */
typedef struct
{
  StackId *stack;   /* [n] */
  int32_t *tid;     /* [n] or NULL: threads are no matter */
  uint64_t *weight; /* [n] */
  uint32_t n;
} WeightedEnds;

static void
find_weighted (WeightedEnds *self, const Store *store, const StackWeights *weights)
{
  uint32_t n = 0;

  for (StackId i = 0; i < store->stacks.n && sysprof_is_wanted_at (i); i++)
    n += weights->self[i] > 0;
  self->stack = sysprof_large_new (MAX (n, 1), sizeof *self->stack);
  self->weight = sysprof_large_new (MAX (n, 1), sizeof *self->weight);
  for (StackId i = 0; self->n < n; i++)
    if (weights->self[i] > 0)
      {
        self->stack[self->n] = i;
        self->weight[self->n++] = weights->self[i];
      }
}

static void
find_weighted_of_threads (WeightedEnds *self, const Store *store, const StackWeights *weights)
{
  if (weights->by_thread.stack == NULL)
    {
      /* Nobody says which. */
      find_weighted (self, store, weights);
      self->tid = g_new (int32_t, MAX (self->n, 1));
      for (uint32_t i = 0; i < self->n; i++)
        self->tid[i] = -1;
      return;
    }

  self->n = weights->by_thread.n;
  self->stack = g_memdup2 (weights->by_thread.stack, self->n * sizeof *self->stack);
  self->tid = g_memdup2 (weights->by_thread.tid, self->n * sizeof *self->tid);
  self->weight = g_memdup2 (weights->by_thread.self, self->n * sizeof *self->weight);
}

/* What is left of a tree that is not wanted any more. */
static CallTree *
new_root (void)
{
  CallTree *tree = g_new0 (CallTree, 1);

  tree->n = 1;
  tree->parent = g_new0 (CallNodeId, 1);
  tree->first_child = g_new0 (CallNodeId, 1);
  tree->next_sibling = g_new0 (CallNodeId, 1);
  tree->symbol = g_new0 (SymbolId, 1);
  tree->self = g_new0 (uint64_t, 1);
  tree->total = g_new0 (uint64_t, 1);
  tree->kind = g_new0 (uint8_t, 1);
  tree->kind[0] = SYMBOL_ROOT;
  tree->id = g_new0 (uint32_t, 1);
  return tree;
}

/* NULL if cancelled. */
static CallTree *
new_whole (const Store *store,
           const SymbolTable *symbols,
           const TreeShape *shape,
           const FoldEnds *ends,
           const uint64_t *weight)
{
  FoldWork work = { .cancellable = g_cancellable_get_current () };
  g_autofree uint64_t *sums = NULL;
  CallTree *tree = NULL;
  FoldPlan plan;

  if (sysprof_fold_plan_init (&plan, store, symbols, shape, ends, &work))
    {
      sums = sysprof_fold_runs_new_sums (&plan.runs);
      for (uint32_t i = 0; i < ends->n; i++)
        sums[plan.runs.of_end[i] + 1] += weight[i];
      if (sysprof_fold_runs_sum (&plan.runs, sums, &work))
        tree = sysprof_fold_plan_dup_tree (&plan, store, symbols, sums, &work);
    }
  sysprof_fold_plan_clear (&plan);
  return tree;
}

CallTree *
sysprof_call_tree_new_above (const Store *store,
                             const SymbolTable *symbols,
                             const StackWeights *weights,
                             const TreeShape *shape,
                             uint64_t least)
{
  static const TreeShape plain = { 0 };
  WeightedEnds weighted = { 0 };
  CallTree *tree;
  FoldEnds ends;

  if (shape == NULL)
    shape = &plain;
  if (least > 1 && !shape->bottom_up && !shape->threads && shape->focus == NULL)
    {
      tree = sysprof_heavy_tree_new_of_stacks (store, symbols, shape, weights, least);
      return tree != NULL ? tree : new_root ();
    }

  if (shape->threads)
    find_weighted_of_threads (&weighted, store, weights);
  else
    find_weighted (&weighted, store, weights);

  ends = (FoldEnds){ weighted.stack, weighted.tid, weighted.n };
  if (least > 1 && !shape->bottom_up)
    tree = sysprof_heavy_tree_new (store, symbols, shape, &ends, weighted.weight, least);
  else
    tree = new_whole (store, symbols, shape, &ends, weighted.weight);

  g_free (weighted.stack);
  g_free (weighted.tid);
  g_free (weighted.weight);
  return tree != NULL ? tree : new_root ();
}

CallTree *
sysprof_call_tree_new (const Store *store,
                       const SymbolTable *symbols,
                       const StackWeights *weights,
                       const TreeShape *shape)
{
  return sysprof_call_tree_new_above (store, symbols, weights, shape, 0);
}

void
sysprof_call_tree_free (CallTree *self)
{
  if (self == NULL)
    return;

  g_free (self->parent);
  g_free (self->first_child);
  g_free (self->next_sibling);
  g_free (self->symbol);
  g_free (self->self);
  g_free (self->total);
  g_free (self->kind);
  g_free (self->id);
  g_free (self);
}

/* 0 = there is none. */
static ProcessId
process_above (const CallTree *self, CallNodeId node)
{
  while (node != 0 && self->kind[node] != SYMBOL_PROCESS)
    node = self->parent[node];
  return node != 0 ? self->id[node] : 0;
}

char *
sysprof_call_tree_dup_label (const CallTree *self,
                             const Store *store,
                             const SymbolTable *symbols,
                             CallNodeId node)
{
  switch (self->kind[node])
    {
    case SYMBOL_ROOT:
      return g_strdup ("All Processes");
    case SYMBOL_PROCESS:
      return g_strdup (sysprof_store_string (store, store->processes.row[self->id[node]].comm));
    case SYMBOL_THREAD:
      return sysprof_store_dup_thread_label (store, process_above (self, node),
                                             (int32_t) self->id[node]);
    default:
      return g_strdup (sysprof_symbol_name (symbols, self->symbol[node]));
    }
}
