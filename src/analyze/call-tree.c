// SPDX-License-Identifier: GPL-3.0-or-later

/* Merges stacks into one tree of functions.
 *
 * Top down, a stack's node is the child of its parent stack's node: each stack is placed once. Bottom up,
 * each weighted stack is read from its innermost function outwards, so the work is the length of the
 * distinct stacks, which the capture file bounds. */

#include "analyze/call-order.h"
#include "analyze/node-set.h"
#include "analyze/shown-symbols.h"
#include "analyze/stack-walk.h"

#include <stdlib.h>

typedef struct
{
  const Store *store;
  const SymbolTable *symbols;
  const TreeShape *shape;
  CallTree *tree;
  uint32_t capacity;
  NodeSet children;
  SymbolId *shown;           /* [symbols->n] or NULL */
  bool *is_focus;            /* [symbols->n] or NULL */
  ProcessId *first_of_comm;  /* [store->strings.n_strings] or NULL: processes are not merged */
  CallNodeId *node_of_stack; /* [stacks.n] valid in the round that is noted beside it */
  uint32_t *round_of_stack;  /* [stacks.n] */
  uint32_t round;            /* one per thread, so that nothing is cleared in between */
  StackId *path;             /* [longest stack] */
} Builder;

static void
reserve_node (Builder *self)
{
  CallTree *tree = self->tree;

  if (tree->n < self->capacity)
    return;

  self->capacity = MAX (1024, self->capacity * 2);
  tree->parent = g_renew (CallNodeId, tree->parent, self->capacity);
  tree->symbol = g_renew (SymbolId, tree->symbol, self->capacity);
  tree->self = g_renew (uint64_t, tree->self, self->capacity);
  tree->kind = g_renew (uint8_t, tree->kind, self->capacity);
  tree->id = g_renew (uint32_t, tree->id, self->capacity);
}

static CallNodeId
append_node (Builder *self, CallNodeId parent, SymbolKind kind, SymbolId symbol, uint32_t id)
{
  CallTree *tree = self->tree;

  reserve_node (self);
  tree->parent[tree->n] = parent;
  tree->symbol[tree->n] = symbol;
  tree->self[tree->n] = 0;
  tree->kind[tree->n] = (uint8_t) kind;
  tree->id[tree->n] = id;
  return tree->n++;
}

/* All children of a node are of one sort, so a number tells them apart. */
static CallNodeId
find_or_append (Builder *self, CallNodeId parent, SymbolKind kind, SymbolId symbol, uint32_t id)
{
  uint32_t fresh = self->tree->n;
  CallNodeId node =
      sysprof_node_set_find_or_add (&self->children, parent, symbol != 0 ? symbol : id, fresh);

  if (node == fresh)
    append_node (self, parent, kind, symbol, id);
  return node;
}

static CallNodeId
node_of_process (Builder *self, ProcessId process, int32_t tid)
{
  CallNodeId node = 0;

  if (self->shape->focus != NULL || process == 0)
    return 0;

  if (!self->shape->no_processes)
    {
      if (self->first_of_comm != NULL)
        process = self->first_of_comm[self->store->processes.row[process].comm];
      node = find_or_append (self, 0, SYMBOL_PROCESS, 0, process);
    }

  if (self->shape->threads)
    node = find_or_append (self, node, SYMBOL_THREAD, 0, (uint32_t) tid);
  return node;
}

static CallNodeId
node_of_function (Builder *self, CallNodeId parent, StackId stack)
{
  SymbolId own = sysprof_stack_symbol (self->store, self->symbols, stack);
  SymbolId symbol = sysprof_shown_symbol (self->shown, own);
  bool stands_for_many;

  if (symbol == 0 || (self->shape->no_kernel && sysprof_stack_is_kernel (self->store, stack)))
    return parent;
  stands_for_many = self->shape->collapse != NULL &&
                    sysprof_shape_collapses (self->shape, self->symbols, symbol);
  if ((self->shape->fold_recursion || stands_for_many) && parent != 0 &&
      symbol == self->tree->symbol[parent])
    return parent;

  return find_or_append (self, parent, self->symbols->row[symbol].kind, symbol, 0);
}

/* What is hidden is not in focus: functions of the symbol 0 are none. */
static bool
is_focus (const Builder *self, StackId stack)
{
  SymbolId symbol = sysprof_stack_symbol (self->store, self->symbols, stack);

  symbol = sysprof_shown_symbol (self->shown, symbol);
  return symbol != 0 && self->is_focus[symbol];
}

/* Outside of the focus, the answer is the root. */
static CallNodeId
place_stack (Builder *self, StackId stack, int32_t tid)
{
  const StackTree *stacks = &self->store->stacks;
  CallNodeId parent;

  if (stacks->depth[stack] == 0)
    return node_of_process (self, stack, tid);

  parent = self->node_of_stack[stacks->parent[stack]];
  if (self->is_focus != NULL && parent == 0 && !is_focus (self, stack))
    return 0;

  return node_of_function (self, parent, stack);
}

static void
add_top_down (Builder *self, StackId stack, int32_t tid, uint64_t weight)
{
  const StackTree *stacks = &self->store->stacks;
  uint32_t n = 0;

  for (StackId at = stack; self->round_of_stack[at] != self->round; at = stacks->parent[at])
    self->path[n++] = at;

  while (n-- > 0)
    {
      StackId at = self->path[n];

      self->node_of_stack[at] = place_stack (self, at, tid);
      self->round_of_stack[at] = self->round;
    }

  if (self->is_focus == NULL || self->node_of_stack[stack] != 0)
    self->tree->self[self->node_of_stack[stack]] += weight;
}

static void
add_bottom_up (Builder *self, StackId stack, int32_t tid, uint64_t weight)
{
  const StackTree *stacks = &self->store->stacks;
  StackId at = stack;
  CallNodeId node;

  if (self->is_focus != NULL)
    {
      while (stacks->depth[at] > 0 &&
             (!is_focus (self, at) ||
              (self->shape->no_kernel && sysprof_stack_is_kernel (self->store, at))))
        at = stacks->parent[at];
      if (stacks->depth[at] == 0)
        return;
    }

  node = node_of_process (self, sysprof_store_process_of_stack (self->store, stack), tid);
  for (; stacks->depth[at] > 0; at = stacks->parent[at])
    node = node_of_function (self, node, at);
  self->tree->self[node] += weight;
}

static void
add_all (Builder *self, const StackWeights *weights)
{
  void (*add) (Builder *, StackId, int32_t, uint64_t) =
      self->shape->bottom_up ? add_bottom_up : add_top_down;

  self->round = 1;
  if (self->shape->threads && weights->by_thread.stack != NULL)
    {
      for (uint32_t i = 0; i < weights->by_thread.n; i++)
        {
          if (i > 0 && weights->by_thread.tid[i] != weights->by_thread.tid[i - 1])
            {
              self->round++;
              self->round_of_stack[0] = self->round;
            }
          add (self, weights->by_thread.stack[i], weights->by_thread.tid[i],
               weights->by_thread.self[i]);
        }
      return;
    }

  for (StackId i = 0; i < self->store->stacks.n; i++)
    if (weights->self[i] > 0)
      add (self, i, -1, weights->self[i]);
}

static void
sum_totals (CallTree *tree)
{
  tree->total = g_memdup2 (tree->self, tree->n * sizeof *tree->self);
  for (CallNodeId i = tree->n - 1; i > 0; i--)
    tree->total[tree->parent[i]] += tree->total[i];
}

/* Children of node i become neighbours, behind those of node i - 1; each family is sorted on its own. */
static void
link_siblings (const Builder *self)
{
  CallTree *tree = self->tree;
  CallOrder order = { tree, self->store, self->symbols };
  g_autofree uint32_t *begin = g_new0 (uint32_t, (size_t) tree->n + 1);
  g_autofree CallNodeId *sorted = g_new (CallNodeId, tree->n);

  tree->first_child = g_new0 (CallNodeId, tree->n);
  tree->next_sibling = g_new0 (CallNodeId, tree->n);

  for (CallNodeId i = 1; i < tree->n; i++)
    begin[tree->parent[i] + 1]++;
  for (CallNodeId i = 0; i < tree->n; i++)
    begin[i + 1] += begin[i];
  for (CallNodeId i = tree->n - 1; i > 0; i--)
    {
      CallNodeId parent = tree->parent[i];

      /* first_child counts, for the moment, how many were put in place. */
      sorted[begin[parent] + tree->first_child[parent]++] = i;
    }

  for (CallNodeId i = 0; i < tree->n; i++)
    {
      uint32_t n = begin[i + 1] - begin[i];
      CallNodeId *family = sorted + begin[i];

      if (n > 1)
        qsort_r (family, n, sizeof *family, sysprof_call_node_compare_total, &order);
      tree->first_child[i] = n > 0 ? family[0] : 0;
      for (uint32_t j = 1; j < n; j++)
        tree->next_sibling[family[j - 1]] = family[j];
    }
}

static void
find_first_of_comm (Builder *self)
{
  const Processes *processes = &self->store->processes;

  self->first_of_comm = g_new0 (ProcessId, MAX (self->store->strings.n_strings, 1));
  for (ProcessId i = processes->n; i-- > 1;)
    self->first_of_comm[processes->row[i].comm] = i;
}

static uint32_t
longest_stack (const StackTree *stacks)
{
  uint32_t longest = 0;

  for (StackId i = 0; i < stacks->n; i++)
    longest = MAX (longest, stacks->depth[i]);
  return longest + 1;
}

CallTree *
sysprof_call_tree_new (const Store *store,
                       const SymbolTable *symbols,
                       const StackWeights *weights,
                       const TreeShape *shape)
{
  static const TreeShape plain = { 0 };
  uint32_t n_stacks = MAX (store->stacks.n, 1);
  Builder self = {
    .store = store,
    .symbols = symbols,
    .shape = shape != NULL ? shape : &plain,
    .tree = g_new0 (CallTree, 1),
    .node_of_stack = g_new0 (CallNodeId, n_stacks),
    .round_of_stack = g_new0 (uint32_t, n_stacks),
    .path = g_new (StackId, longest_stack (&store->stacks)),
  };

  sysprof_node_set_init (&self.children);
  self.shown = sysprof_shown_symbols_new (store, symbols, self.shape);
  if (self.shape->focus != NULL)
    {
      self.is_focus = sysprof_focus_match (symbols, self.shape->focus, NULL);
      sysprof_shown_symbols_move_focus (self.shown, symbols, self.is_focus);
    }
  if (self.shape->merge_processes)
    find_first_of_comm (&self);

  append_node (&self, 0, SYMBOL_ROOT, 0, 0);
  self.round_of_stack[0] = 1;
  add_all (&self, weights);
  sum_totals (self.tree);
  link_siblings (&self);

  sysprof_node_set_clear (&self.children);
  g_free (self.shown);
  g_free (self.is_focus);
  g_free (self.first_of_comm);
  g_free (self.node_of_stack);
  g_free (self.round_of_stack);
  g_free (self.path);
  return self.tree;
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
      /* -1: the capture does not say which one. */
      if ((int32_t) self->id[node] < 0)
        return g_strdup ("Thread ?");
      return g_strdup_printf ("Thread %d", (int32_t) self->id[node]);
    default:
      return g_strdup (sysprof_symbol_name (symbols, self->symbol[node]));
    }
}
