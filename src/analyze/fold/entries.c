// SPDX-License-Identifier: GPL-3.0-or-later

/* Applies a shape to the entries of all stacks. See entries.h. */

#include "analyze/fold/entries.h"

#include "analyze/fold/list.h"
#include "analyze/fold/work.h"

/* --- copies of the stacks of each thread --- */

typedef struct
{
  NumberList parent;
  NumberList stack;  /* FOLD_NOWHERE - 1 - i for thread number i */
  uint32_t *entry;   /* [stacks.n] of each stack, if `thread` is the current one */
  uint32_t *thread;  /* [stacks.n] 1 + its number */
  uint32_t *process; /* [processes.n] its entry, 0 = not yet */
  NumberList path;
} Copies;

static uint32_t
add_copy (Copies *self, uint32_t parent, StackId stack)
{
  number_list_add (&self->parent, parent);
  number_list_add (&self->stack, stack);
  return self->parent.n - 1;
}

/* The entry of a stack of the thread number `thread`; processes are shared. */
static uint32_t
copy_stack (Copies *self, const StackTree *stacks, StackId stack, uint32_t thread)
{
  for (StackId at = stack; self->thread[at] != thread + 1; at = stacks->parent[at])
    number_list_add (&self->path, at);
  while (self->path.n > 0)
    {
      StackId at = self->path.item[--self->path.n];

      self->thread[at] = thread + 1;
      if (stacks->depth[at] > 0)
        {
          self->entry[at] = add_copy (self, self->entry[stacks->parent[at]], at);
          continue;
        }
      if (self->process[at] == 0)
        self->process[at] = add_copy (self, 0, at);
      self->entry[at] = add_copy (self, self->process[at], FOLD_NOWHERE - 1 - thread);
    }
  return self->entry[stack];
}

/* The thread of a weight is not known: then all weights are those of one thread, -1. */
static void
forget_threads (StackWeights *weights, uint32_t n_stacks)
{
  weights->by_thread.stack = sysprof_large_new (MAX (n_stacks, 1), sizeof (StackId));
  weights->by_thread.tid = sysprof_large_new (MAX (n_stacks, 1), sizeof (int32_t));
  weights->by_thread.self = sysprof_large_new (MAX (n_stacks, 1), sizeof (uint64_t));
  for (StackId i = 0; i < n_stacks; i++)
    if (weights->self[i] > 0)
      {
        weights->by_thread.stack[weights->by_thread.n] = i;
        weights->by_thread.tid[weights->by_thread.n] = -1;
        weights->by_thread.self[weights->by_thread.n++] = weights->self[i];
      }
}

/* Returns the stack of each entry, as in Copies. *(full)*; NULL if cancelled. */
static uint32_t *
copy_for_threads (FoldEntries *self, const StackWeights *given, FoldWork *work)
{
  const Store *store = self->keys.store;
  const StackTree *stacks = &store->stacks;
  StackWeights weights = *given;
  bool is_done = true;
  Copies copies = {
    .entry = sysprof_large_new (MAX (stacks->n, 1), sizeof (uint32_t)),
    .thread = sysprof_large_new0 (MAX (stacks->n, 1), sizeof (uint32_t)),
    .process = g_new0 (uint32_t, MAX (store->processes.n, 1)),
  };

  if (weights.by_thread.stack == NULL)
    forget_threads (&weights, stacks->n);
  self->tids = g_new (int32_t, MAX (weights.by_thread.n, 1));
  self->of_thread = g_new (uint32_t, MAX (weights.by_thread.n, 1));
  add_copy (&copies, 0, 0);
  for (uint32_t i = 0; i < weights.by_thread.n && is_done; i++)
    {
      if (i == 0 || weights.by_thread.tid[i] != weights.by_thread.tid[i - 1])
        {
          copies.entry[0] = 0;
          copies.thread[0] = self->n_tids + 1;
          self->tids[self->n_tids++] = weights.by_thread.tid[i];
        }
      self->of_thread[i] =
          copy_stack (&copies, stacks, weights.by_thread.stack[i], self->n_tids - 1);
      is_done = sysprof_fold_work_at (work, i);
    }

  self->n = copies.parent.n;
  self->parent = self->own_parent = copies.parent.item;
  self->weight = self->own_weight = sysprof_large_new0 (self->n, sizeof (uint64_t));
  for (uint32_t i = 0; i < weights.by_thread.n && is_done; i++)
    self->own_weight[self->of_thread[i]] += weights.by_thread.self[i];

  if (given->by_thread.stack == NULL)
    {
      weights.self = NULL;
      sysprof_stack_weights_clear (&weights);
    }
  number_list_clear (&copies.path);
  g_free (copies.entry);
  g_free (copies.thread);
  g_free (copies.process);
  if (!is_done)
    number_list_clear (&copies.stack);
  return copies.stack.item;
}

/* --- keys --- */

/* The key of an entry, and whether it is that of a process or of a thread. */
static FoldKey
key_of_stack (const FoldEntries *self, StackId stack, bool *is_top)
{
  const StackTree *stacks = &self->keys.store->stacks;

  *is_top = stack >= stacks->n || stacks->depth[stack] == 0;
  if (stack < stacks->n)
    return *is_top ? sysprof_stack_keys_of_process (&self->keys, stack)
                   : sysprof_stack_keys_of_function (&self->keys, stack);
  return self->keys.shape->focus == NULL
             ? sysprof_fold_thread_key (self->keys.store, self->keys.symbols,
                                        FOLD_NOWHERE - 1 - stack)
             : 0;
}

/* [n] 1 where a stack ends or passes. *(full)* */
static uint8_t *
find_used (const FoldEntries *self)
{
  uint8_t *is_used = sysprof_large_new0 (MAX (self->n, 1), sizeof *is_used);

  for (uint32_t i = self->n; i-- > 0;)
    if (is_used[i] || self->weight[i] > 0)
      is_used[i] = is_used[self->parent[i]] = 1;
  return is_used;
}

/* `stack` [n] of each entry, or NULL: the entry itself. */
static bool
fill_keys (FoldEntries *self, const uint32_t *stack, const bool *is_focus, FoldWork *work)
{
  const Shape *shape = self->keys.shape;
  /* The nearest key from each entry outwards. */
  g_autofree FoldKey *visible = NULL;
  g_autofree uint8_t *is_used = find_used (self);

  self->key = sysprof_large_new (MAX (self->n, 1), sizeof *self->key);
  if (self->keys.is_folded != NULL)
    visible = sysprof_large_new (MAX (self->n, 1), sizeof *visible);
  if (shape->bottom_up)
    self->top = sysprof_large_new (MAX (self->n, 1), sizeof *self->top);
  if (is_focus != NULL)
    self->begin = sysprof_large_new (MAX (self->n, 1), sizeof *self->begin);

  for (uint32_t i = 0; i < self->n; i++)
    {
      uint32_t parent = self->parent[i];
      bool is_function, is_top;
      FoldKey key;

      self->key[i] = 0;
      if (!sysprof_fold_work_at (work, i))
        return false;
      if (!is_used[i])
        continue;

      key = key_of_stack (self, stack != NULL ? stack[i] : i, &is_top);
      is_function = key != 0 && key < self->keys.symbols->n;
      if (self->top != NULL)
        self->top[i] = is_top ? i : self->top[parent];
      if (is_focus != NULL)
        {
          self->begin[i] = i == 0 ? FOLD_NOWHERE : self->begin[parent];
          if (is_function && is_focus[key])
            self->begin[i] = i;
          if (self->begin[i] == FOLD_NOWHERE && !shape->bottom_up)
            key = 0;
        }
      if (visible != NULL)
        {
          if (i > 0 && sysprof_stack_keys_folds (&self->keys, key, visible[parent]))
            key = 0;
          visible[i] = key != 0 || i == 0 ? key : visible[parent];
        }
      self->key[i] = key;
    }
  return true;
}

static void
drop_weights_out_of_focus (FoldEntries *self)
{
  if (self->own_weight == NULL)
    {
      self->own_weight = sysprof_large_new (MAX (self->n, 1), sizeof (uint64_t));
      memcpy (self->own_weight, self->weight, self->n * sizeof (uint64_t));
      self->weight = self->own_weight;
    }
  for (uint32_t i = 0; i < self->n; i++)
    if (self->own_weight[i] > 0 && self->begin[i] == FOLD_NOWHERE)
      self->own_weight[i] = 0;
}

bool
sysprof_fold_entries_init (FoldEntries *self,
                           const Store *store,
                           const SymbolTable *symbols,
                           const Shape *shape,
                           const StackWeights *weights,
                           FoldWork *work)
{
  g_autofree uint32_t *stack = NULL;
  g_autofree bool *is_focus = NULL;

  *self = (FoldEntries){ .parent = store->stacks.parent,
                         .weight = weights->self,
                         .n = store->stacks.n };
  sysprof_stack_keys_init (&self->keys, store, symbols, shape);
  if (shape->focus != NULL)
    {
      is_focus = sysprof_focus_match (symbols, shape->focus, NULL);
      sysprof_shown_symbols_move_focus (self->keys.shown, symbols, is_focus);
    }
  if (shape->threads && (stack = copy_for_threads (self, weights, work)) == NULL)
    return false;
  if (!shape->threads && !shape->bottom_up && is_focus == NULL)
    return true;
  if (!fill_keys (self, stack, is_focus, work))
    return false;
  if (is_focus != NULL)
    drop_weights_out_of_focus (self);
  return true;
}

void
sysprof_fold_entries_clear (FoldEntries *self)
{
  sysprof_stack_keys_clear (&self->keys);
  g_free (self->key);
  g_free (self->begin);
  g_free (self->top);
  g_free (self->tids);
  g_free (self->of_thread);
  g_free (self->own_parent);
  g_free (self->own_weight);
  *self = (FoldEntries){ 0 };
}
