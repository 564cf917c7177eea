// SPDX-License-Identifier: GPL-3.0-or-later

/* What the nodes of a plan weigh, and the tree of those that weigh something. */

#include "analyze/fold-plan.h"

#include "analyze/fold-work.h"

#include <stdlib.h>

#define MOST_INSERTED 16 /* siblings: up to so many are sorted by insertion */

bool
sysprof_fold_plan_push (const FoldPlan *self, uint64_t *total, FoldWork *work)
{
  for (uint32_t i = self->n; i-- > 1;)
    {
      total[self->parent[i]] += total[i];
      if (!sysprof_fold_work_at (work, i))
        return false;
    }
  return true;
}

typedef struct
{
  uint64_t total;
  uint32_t node;
} Sibling;

static bool
is_before (const Sibling *a, const Sibling *b)
{
  return a->total != b->total ? a->total > b->total : a->node < b->node;
}

static int
compare_siblings (const void *a, const void *b)
{
  return is_before (a, b) ? -1 : 1;
}

/* Given by name, so that numbers settle equal totals. */
static void
sort_siblings (Sibling *siblings, uint32_t n)
{
  if (n > MOST_INSERTED)
    {
      qsort (siblings, n, sizeof *siblings, compare_siblings);
      return;
    }
  for (uint32_t i = 1; i < n; i++)
    {
      Sibling sibling = siblings[i];
      uint32_t j = i;

      for (; j > 0 && is_before (&sibling, &siblings[j - 1]); j--)
        siblings[j] = siblings[j - 1];
      siblings[j] = sibling;
    }
}

uint32_t
sysprof_fold_plan_sort_children (const FoldPlan *self,
                                 const uint64_t *total,
                                 uint32_t node,
                                 uint32_t *children)
{
  uint32_t first = self->first_child[node], end = self->first_child[node + 1], n = 0;
  g_autofree Sibling *siblings = g_new (Sibling, MAX (end - first, 1));

  for (uint32_t i = first; i < end; i++)
    if (total[i] > 0)
      siblings[n++] = (Sibling){ total[i], i };
  sort_siblings (siblings, n);
  for (uint32_t i = 0; i < n; i++)
    children[i] = siblings[i].node;
  return n;
}

/* --- the whole tree --- */

SymbolKind
sysprof_fold_plan_get_kind (const FoldPlan *self,
                            const Store *store,
                            const SymbolTable *symbols,
                            uint32_t node,
                            SymbolId *symbol,
                            uint32_t *id)
{
  FoldKey key = self->key[node];
  FoldKey first_process = sysprof_fold_process_key (symbols, 0);
  FoldKey first_thread = sysprof_fold_thread_key (store, symbols, 0);

  *symbol = *id = 0;
  if (key == 0)
    return SYMBOL_ROOT;

  if (key < first_process)
    {
      *symbol = key;
      return (SymbolKind) symbols->row[key].kind;
    }

  if (key < first_thread)
    {
      *id = key - first_process;
      return SYMBOL_PROCESS;
    }

  *id = (uint32_t) self->tids[key - first_thread];
  return SYMBOL_THREAD;
}

/* [plan->n] the node of the tree, for those that weigh something; the root is always one. */
static uint32_t *
number_nodes (const FoldPlan *plan, const uint64_t *total, uint32_t *n)
{
  uint32_t *number = sysprof_large_new (plan->n, sizeof *number);

  *n = 1;
  number[0] = 0;
  for (uint32_t i = 1; i < plan->n; i++)
    {
      number[i] = *n;
      *n += total[i] > 0;
    }
  return number;
}

static void
alloc_nodes (CallTree *tree)
{
  tree->parent = sysprof_large_new (tree->n, sizeof *tree->parent);
  tree->first_child = sysprof_large_new0 (tree->n, sizeof *tree->first_child);
  tree->next_sibling = sysprof_large_new0 (tree->n, sizeof *tree->next_sibling);
  tree->symbol = sysprof_large_new (tree->n, sizeof *tree->symbol);
  tree->self = sysprof_large_new (tree->n, sizeof *tree->self);
  tree->total = sysprof_large_new (tree->n, sizeof *tree->total);
  tree->kind = sysprof_large_new (tree->n, sizeof *tree->kind);
  tree->id = sysprof_large_new (tree->n, sizeof *tree->id);
}

/* The children of a node are neighbours. */
static bool
link_siblings (CallTree *tree, FoldWork *work)
{
  g_autofree Sibling *siblings = NULL;
  uint32_t capacity = 0, n;

  for (CallNodeId first = 1; first < tree->n; first += n)
    {
      CallNodeId parent = tree->parent[first];

      for (n = 0; first + n < tree->n && tree->parent[first + n] == parent; n++)
        {
          if (n == capacity)
            {
              capacity = MAX (64, capacity * 2);
              siblings = g_renew (Sibling, siblings, capacity);
            }
          siblings[n] = (Sibling){ tree->total[first + n], first + n };
          if (!sysprof_fold_work_at (work, first + n))
            return false;
        }
      sort_siblings (siblings, n);
      tree->first_child[parent] = siblings[0].node;
      for (uint32_t i = 1; i < n; i++)
        tree->next_sibling[siblings[i - 1].node] = siblings[i].node;
    }
  return true;
}

CallTree *
sysprof_fold_plan_dup_tree (const FoldPlan *self,
                            const Store *store,
                            const SymbolTable *symbols,
                            const uint64_t *total,
                            FoldWork *work)
{
  g_autoptr (CallTree) tree = g_new0 (CallTree, 1);
  g_autofree uint32_t *number = number_nodes (self, total, &tree->n);

  alloc_nodes (tree);
  for (uint32_t i = 0; i < self->n; i++)
    {
      CallNodeId node = number[i];

      if (!sysprof_fold_work_at (work, i))
        return NULL;
      if (i > 0 && total[i] == 0)
        continue;

      tree->parent[node] = number[self->parent[i]];
      tree->total[node] = tree->self[node] = total[i];
      tree->kind[node] = (uint8_t) sysprof_fold_plan_get_kind (
          self, store, symbols, i, &tree->symbol[node], &tree->id[node]);
      if (i > 0)
        tree->self[tree->parent[node]] -= total[i];
    }
  return link_siblings (tree, work) ? g_steal_pointer (&tree) : NULL;
}
