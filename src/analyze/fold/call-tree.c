// SPDX-License-Identifier: GPL-3.0-or-later

/* The call tree of a selection: nodes in arrays, labels of nodes, and the tree above a
 * function. */

#include "analyze/fold/plan.h"
#include "analyze/fold/work.h"

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

CallTree *
sysprof_call_tree_new_above (const Store *store,
                             const SymbolTable *symbols,
                             const StackWeights *weights,
                             const Shape *shape,
                             uint64_t least)
{
  static const Shape plain = { 0 };
  FoldWork work = { .cancellable = g_cancellable_get_current () };
  CallTree *tree = NULL;
  FoldEntries entries;
  FoldPlan plan = { 0 };

  if (sysprof_fold_entries_init (&entries, store, symbols, shape != NULL ? shape : &plain,
                                 weights, &work) &&
      sysprof_fold_plan_init_stacks (&plan, &entries, least, NULL, &work))
    tree = sysprof_fold_plan_dup_tree (&plan, store, symbols, &work);
  sysprof_fold_entries_clear (&entries);
  sysprof_fold_plan_clear (&plan);
  return tree != NULL ? tree : new_root ();
}

CallTree *
sysprof_call_tree_new (const Store *store,
                       const SymbolTable *symbols,
                       const StackWeights *weights,
                       const Shape *shape)
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
