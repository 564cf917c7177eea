// SPDX-License-Identifier: GPL-3.0-or-later

/* The call tree of a plan: its nodes that weigh something, or single ones of them. */

#include "analyze/fold/list.h"
#include "analyze/fold/plan.h"
#include "analyze/fold/work.h"

#define MOST_INSERTED 16 /* siblings: up to so many are sorted by insertion */

uint32_t
sysprof_fold_plan_find_run (const FoldPlan *self, uint32_t node)
{
  uint32_t low = 0, high = self->n_runs;

  while (high - low > 1)
    {
      uint32_t middle = low + (high - low) / 2;

      if (self->begin[middle] <= node)
        low = middle;
      else
        high = middle;
    }
  return low;
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
compare_siblings (const void *a, const void *b, void *data)
{
  return is_before (a, b) ? -1 : 1;
}

/* Given by name, so that numbers settle equal totals. FALSE if cancelled: then some may be there twice. */
static bool
sort_siblings (Sibling *siblings, uint32_t n, const FoldWork *work)
{
  if (n > MOST_INSERTED)
    return sysprof_fold_work_sort (work, siblings, n, sizeof *siblings, compare_siblings, NULL);
  for (uint32_t i = 1; i < n; i++)
    {
      Sibling sibling = siblings[i];
      uint32_t j = i;

      for (; j > 0 && is_before (&sibling, &siblings[j - 1]); j--)
        siblings[j] = siblings[j - 1];
      siblings[j] = sibling;
    }
  return true;
}

uint32_t
sysprof_fold_plan_n_children (const FoldPlan *self, uint32_t node)
{
  uint32_t run = sysprof_fold_plan_find_run (self, node), n = 0;

  if (node + 1 < self->begin[run + 1])
    return 1;

  FOLD_FOR_EACH_BELOW (self, run, below)
  n++;
  return n;
}

uint32_t
sysprof_fold_plan_sort_children (const FoldPlan *self, uint32_t node, uint32_t *children)
{
  uint32_t run = sysprof_fold_plan_find_run (self, node), n = 0;
  g_autofree Sibling *siblings = NULL;

  if (node + 1 < self->begin[run + 1])
    {
      children[0] = node + 1;
      return sysprof_fold_plan_total (self, run) > 0;
    }

  siblings = g_new (Sibling, MAX (sysprof_fold_plan_n_children (self, node), 1));
  FOLD_FOR_EACH_BELOW (self, run, below)
  {
    uint64_t total = sysprof_fold_plan_total (self, below);

    if (total > 0)
      siblings[n++] = (Sibling){ total, self->begin[below] };
  }
  (void) sort_siblings (siblings, n, NULL); /* never canceled */
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

/* [n_runs] the node of the tree with which each run that weighs something begins; the root is always there. *(full)* */
static uint32_t *
number_nodes (const FoldPlan *plan, uint32_t *n)
{
  uint32_t *number = sysprof_large_new (plan->n_runs, sizeof *number);

  *n = 0;
  for (uint32_t i = 0; i < plan->n_runs;)
    {
      number[i] = *n;
      if (sysprof_fold_plan_total (plan, i) == 0)
        {
          i = plan->end[i];
          continue;
        }
      *n += sysprof_fold_plan_length (plan, i);
      i++;
    }
  *n = MAX (*n, 1);
  return number;
}

static void
alloc_nodes (CallTree *tree)
{
  tree->parent = sysprof_large_new (tree->n, sizeof *tree->parent);
  tree->first_child = sysprof_large_new0 (tree->n, sizeof *tree->first_child);
  tree->next_sibling = sysprof_large_new0 (tree->n, sizeof *tree->next_sibling);
  tree->symbol = sysprof_large_new (tree->n, sizeof *tree->symbol);
  tree->self = sysprof_large_new0 (tree->n, sizeof *tree->self);
  tree->total = sysprof_large_new (tree->n, sizeof *tree->total);
  tree->kind = sysprof_large_new (tree->n, sizeof *tree->kind);
  tree->id = sysprof_large_new (tree->n, sizeof *tree->id);
}

FOLD_DEFINE_LIST (SiblingList, sibling_list, Sibling)

/* What hangs on the last node of `run`, which is `parent`. FALSE if cancelled. */
static bool
link_siblings (CallTree *tree,
               const FoldPlan *plan,
               const uint32_t *number,
               uint32_t run,
               CallNodeId parent,
               SiblingList *siblings,
               const FoldWork *work)
{
  siblings->n = 0;
  FOLD_FOR_EACH_BELOW (plan, run, below)
  {
    uint64_t total = sysprof_fold_plan_total (plan, below);

    if (total > 0)
      sibling_list_add (siblings, (Sibling){ total, number[below] });
  }
  if (siblings->n == 0)
    return true;

  if (!sort_siblings (siblings->item, siblings->n, work))
    return false;
  tree->first_child[parent] = siblings->item[0].node;
  for (uint32_t i = 1; i < siblings->n; i++)
    tree->next_sibling[siblings->item[i - 1].node] = siblings->item[i].node;
  return true;
}

static void
fill_node (CallTree *tree,
           CallNodeId node,
           const FoldPlan *plan,
           const Store *store,
           const SymbolTable *symbols,
           uint32_t of_plan)
{
  tree->kind[node] = (uint8_t) sysprof_fold_plan_get_kind (
      plan, store, symbols, of_plan, &tree->symbol[node], &tree->id[node]);
}

static bool
fill_tree (CallTree *tree,
           const FoldPlan *plan,
           const Store *store,
           const SymbolTable *symbols,
           const uint32_t *number,
           FoldWork *work)
{
  SiblingList siblings = { 0 };
  uint64_t n_seen = 0;
  bool is_done = true;

  for (uint32_t i = 0; i < plan->n_runs && is_done;
       is_done = is_done && sysprof_fold_work_at (work, n_seen++))
    {
      uint64_t total = sysprof_fold_plan_total (plan, i);
      uint32_t n = sysprof_fold_plan_length (plan, i), parent = plan->parent[i];
      CallNodeId first = number[i], last = first + n - 1;

      if (total == 0)
        {
          i = plan->end[i];
          continue;
        }

      tree->parent[first] =
          i > 0 ? number[parent] + sysprof_fold_plan_length (plan, parent) - 1 : 0;
      for (CallNodeId node = first; node <= last; node++)
        {
          if (node > first)
            tree->parent[node] = node - 1;
          if (node < last)
            tree->first_child[node] = node + 1;
          tree->total[node] = total;
          fill_node (tree, node, plan, store, symbols, plan->begin[i] + node - first);
        }
      tree->self[last] = sysprof_fold_plan_self (plan, i);
      is_done = link_siblings (tree, plan, number, i, last, &siblings, work);
      i++;
    }
  sibling_list_clear (&siblings);
  return is_done;
}

CallTree *
sysprof_fold_plan_dup_tree (const FoldPlan *self,
                            const Store *store,
                            const SymbolTable *symbols,
                            FoldWork *work)
{
  g_autoptr (CallTree) tree = g_new0 (CallTree, 1);
  g_autofree uint32_t *number = number_nodes (self, &tree->n);

  alloc_nodes (tree);
  /* Where nothing weighs anything, there is the root alone. */
  tree->parent[0] = 0;
  tree->total[0] = 0;
  fill_node (tree, 0, self, store, symbols, 0);
  return fill_tree (tree, self, store, symbols, number, work) ? g_steal_pointer (&tree) : NULL;
}

/* --- call trees --- */

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
