// SPDX-License-Identifier: GPL-3.0-or-later

/* Applies a shape to all stacks once: hidden entries, focus and folded recursion. See
 * forest.h. */

#include "analyze/fold/forest.h"

#include "analyze/fold/stack-keys.h"
#include "analyze/fold/work.h"

#define IS_END (1u << 31)

#define IS_TOP 1u /* of ForestNode.row while nodes are made: a process, or a thread below it */

typedef struct
{
  StackKeys keys;
  bool *is_focus; /* [symbols->n] or NULL */
  FoldWork *work;
} Shaping;

/* --- which entries there are: without threads, those of the store itself --- */

typedef struct
{
  GArray *parent, *stack, *entry_of_end; /* of uint32_t */
} Copies;

static uint32_t
add_copy (Copies *self, uint32_t parent, StackId stack)
{
  g_array_append_val (self->parent, parent);
  g_array_append_val (self->stack, stack);
  return self->parent->len - 1;
}

static void
copies_clear (Copies *self)
{
  g_array_unref (self->parent);
  g_array_unref (self->stack);
  g_array_unref (self->entry_of_end);
}

/* Processes are shared. The stack of thread number i stands for it: FOLD_NOWHERE - 1 - i. */
static bool
copy_for_threads (Copies *self,
                  FoldForest *forest,
                  const Shaping *shaping,
                  const FoldEnds *ends)
{
  const StackTree *stacks = &shaping->keys.store->stacks;
  g_autofree uint32_t *copy = sysprof_large_new (MAX (stacks->n, 1), sizeof (uint32_t));
  g_autofree uint32_t *round_of = sysprof_large_new0 (MAX (stacks->n, 1), sizeof (uint32_t));
  g_autofree uint32_t *process = g_new0 (uint32_t, MAX (shaping->keys.store->processes.n, 1));
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (StackId));

  forest->tids = g_new (int32_t, MAX (ends->n, 1));
  add_copy (self, 0, 0);
  for (uint32_t i = 0; i < ends->n; i++)
    {
      if (i == 0 || ends->tid[i] != ends->tid[i - 1])
        {
          forest->tids[forest->n_tids++] = ends->tid[i];
          copy[0] = 0;
          round_of[0] = forest->n_tids;
        }

      for (StackId at = ends->stack[i]; round_of[at] != forest->n_tids; at = stacks->parent[at])
        g_array_append_val (path, at);
      for (; path->len > 0; g_array_set_size (path, path->len - 1))
        {
          StackId at = g_array_index (path, StackId, path->len - 1);

          round_of[at] = forest->n_tids;
          if (stacks->depth[at] > 0)
            {
              copy[at] = add_copy (self, copy[stacks->parent[at]], at);
              continue;
            }
          if (process[at] == 0)
            process[at] = add_copy (self, 0, at);
          copy[at] = add_copy (self, process[at], FOLD_NOWHERE - forest->n_tids);
        }
      g_array_append_val (self->entry_of_end, copy[ends->stack[i]]);
      if (!sysprof_fold_work_at (shaping->work, i))
        return false;
    }
  return true;
}

/* --- what each stands for --- */

static void
fill_node (ForestNode *node, const Shaping *shaping, StackId stack)
{
  const StackTree *stacks = &shaping->keys.store->stacks;

  if (stack >= stacks->n)
    {
      node->row = IS_TOP;
      if (shaping->keys.shape->focus == NULL)
        node->key = sysprof_fold_thread_key (shaping->keys.store, shaping->keys.symbols,
                                             FOLD_NOWHERE - 1 - stack);
    }
  else if (stacks->depth[stack] == 0)
    {
      node->row = IS_TOP;
      node->key = sysprof_stack_keys_of_process (&shaping->keys, stack);
    }
  else
    node->key = sysprof_stack_keys_of_function (&shaping->keys, stack);
}

/* Sizes from the last to the first, as a node is complete when it is reached; places from the first to the last, as its
 * caller's is known then. */
static bool
place_entries (FoldForest *self,
               const FoldEntries *entries,
               const Shaping *shaping, /* of entries without keys */
               FoldWork *work)
{
  g_autofree uint32_t *place = sysprof_large_new0 (MAX (entries->n, 1), sizeof (uint32_t));
  g_autofree uint32_t *next = NULL;

  place[0] = IS_END;
  for (uint32_t i = 0; i < entries->n_ends; i++)
    place[entries->entry_of_end[i]] = IS_END;
  for (uint32_t i = entries->n; i-- > 1;)
    {
      if (place[i] != 0)
        {
          place[i] = (place[i] & ~IS_END) + 1;
          place[entries->parent[i]] += place[i];
        }
      if (!sysprof_fold_work_at (work, i))
        return false;
    }

  self->n = (place[0] & ~IS_END) + 1;
  self->node = sysprof_large_new (self->n, sizeof *self->node);
  self->node[0] = (ForestNode){ .end = self->n, .row = IS_TOP };
  next = sysprof_large_new (MAX (entries->n, 1), sizeof (uint32_t));
  place[0] = 0;
  next[0] = 1;
  for (uint32_t i = 1; i < entries->n; i++)
    {
      uint32_t parent = entries->parent[i], at = next[parent];

      if (!sysprof_fold_work_at (work, i))
        return false;
      if (place[i] == 0)
        continue;

      next[parent] += place[i];
      self->node[at] = (ForestNode){ .end = at + place[i], .parent = place[parent] };
      if (entries->key != NULL)
        self->node[at].key = entries->key[i];
      else
        fill_node (&self->node[at], shaping, entries->stack != NULL ? entries->stack[i] : i);
      place[i] = at;
      next[i] = at + 1;
    }

  self->node_of_end = g_new (uint32_t, MAX (entries->n_ends, 1));
  for (uint32_t i = 0; i < entries->n_ends; i++)
    self->node_of_end[i] = place[entries->entry_of_end[i]];
  return true;
}

bool
sysprof_fold_forest_place (FoldForest *self, const FoldEntries *entries, FoldWork *work)
{
  *self = (FoldForest){ 0 };
  return place_entries (self, entries, NULL, work);
}

/* What is known of a node when those above it are. */
typedef struct
{
  FoldKey visible; /* the nearest key from here outwards */
  uint32_t begin;  /* with a focus: the innermost node in it, FOLD_NOWHERE = none */
  uint32_t top;    /* the process, or its thread */
} State;

static bool
shape_nodes (FoldForest *self, const Shaping *shaping, State *states)
{
  for (uint32_t i = 0; i < self->n; i++)
    {
      ForestNode *node = &self->node[i];
      State state = i > 0 ? states[node->parent] : (State){ .begin = FOLD_NOWHERE };
      bool is_function = node->key != 0 && node->key < shaping->keys.symbols->n;

      if (is_function && shaping->is_focus != NULL && shaping->is_focus[node->key])
        state.begin = i;
      if ((shaping->is_focus != NULL && !shaping->keys.shape->bottom_up &&
           state.begin == FOLD_NOWHERE) ||
          (is_function && sysprof_stack_keys_folds (&shaping->keys, node->key, state.visible)))
        node->key = 0;
      if (node->key != 0)
        state.visible = node->key;
      if (node->row == IS_TOP)
        state.top = i;
      states[i] = state;
      if (!sysprof_fold_work_at (shaping->work, i))
        return false;
    }
  return true;
}

static bool
apply_shape (FoldForest *self, const Shaping *shaping, uint32_t n_ends)
{
  bool is_reversed = shaping->keys.shape->bottom_up;
  g_autofree State *states = NULL;

  if (!is_reversed && shaping->is_focus == NULL && shaping->keys.is_folded == NULL)
    return true;

  states = sysprof_large_new (self->n, sizeof *states);
  if (!shape_nodes (self, shaping, states))
    return false;

  if (is_reversed)
    self->top_of_end = g_new (uint32_t, MAX (n_ends, 1));
  for (uint32_t i = 0; i < n_ends; i++)
    {
      const State *state = &states[self->node_of_end[i]];

      if (is_reversed)
        self->top_of_end[i] = state->top;
      if (shaping->is_focus != NULL && (is_reversed || state->begin == FOLD_NOWHERE))
        self->node_of_end[i] = state->begin;
    }
  return true;
}

bool
sysprof_fold_forest_init (FoldForest *self,
                          const Store *store,
                          const SymbolTable *symbols,
                          const TreeShape *shape,
                          const FoldEnds *ends,
                          FoldWork *work)
{
  Shaping shaping = { .work = work };
  FoldEntries entries = { .parent = store->stacks.parent,
                          .entry_of_end = ends->stack,
                          .n = store->stacks.n,
                          .n_ends = ends->n };
  Copies copies = { 0 };
  bool is_done = true;

  *self = (FoldForest){ 0 };
  sysprof_stack_keys_init (&shaping.keys, store, symbols, shape);
  if (shape->focus != NULL)
    {
      shaping.is_focus = sysprof_focus_match (symbols, shape->focus, NULL);
      sysprof_shown_symbols_move_focus (shaping.keys.shown, symbols, shaping.is_focus);
    }

  if (ends->tid != NULL)
    {
      copies = (Copies){ g_array_new (FALSE, FALSE, sizeof (uint32_t)),
                         g_array_new (FALSE, FALSE, sizeof (uint32_t)),
                         g_array_new (FALSE, FALSE, sizeof (uint32_t)) };
      is_done = copy_for_threads (&copies, self, &shaping, ends);
      entries = (FoldEntries){ .parent = (const uint32_t *) copies.parent->data,
                               .stack = (const StackId *) copies.stack->data,
                               .entry_of_end = (const uint32_t *) copies.entry_of_end->data,
                               .n = copies.parent->len,
                               .n_ends = ends->n };
    }
  is_done = is_done && place_entries (self, &entries, &shaping, work) &&
            apply_shape (self, &shaping, ends->n);

  if (ends->tid != NULL)
    copies_clear (&copies);
  sysprof_stack_keys_clear (&shaping.keys);
  g_free (shaping.is_focus);
  return is_done;
}

void
sysprof_fold_forest_clear (FoldForest *self)
{
  g_free (self->node);
  g_free (self->node_of_end);
  g_free (self->top_of_end);
  g_free (self->tids);
  *self = (FoldForest){ 0 };
}
