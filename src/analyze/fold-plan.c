// SPDX-License-Identifier: GPL-3.0-or-later

/* Merges the stacks of a forest into nodes.
 *
 * Of a node, all places in the forest that it stands for are at hand at once. What comes next at these places is sorted
 * into its children with a table over keys alone, small enough for the caches, in which the number of the node tells
 * what is old: there is no table of (parent, key), in which each look-up would wait for memory. Each child is finished,
 * with all below it, before the next: the forest lies in that order. Then the nodes are laid out by depth. */

#include "analyze/fold-plan.h"

#include "analyze/fold-list.h"
#include "analyze/fold-work.h"
#include "analyze/key-ranks.h"

#include <stdlib.h>

/* Where a stack goes on. Bottom up nobody's callers are shared, so there is one for each end. */
typedef struct
{
  uint32_t at;  /* node of the forest; bottom up perhaps one of the below */
  uint32_t end; /* bottom up */
} Place;

#define AT_PROCESS (UINT32_MAX - 1) /* before its functions are read, what they hang on is */
#define AT_THREAD  (UINT32_MAX - 2)

/* A node that is still to be made. */
typedef struct
{
  FoldKey key;
  uint32_t depth;
  uint32_t n_places;
} Child;

/* A node, in the order of a walk. */
typedef struct
{
  FoldKey key;
  uint32_t depth;
  uint32_t row;
} Merged;

FOLD_DEFINE_LIST (PlaceList, place_list, Place)
FOLD_DEFINE_LIST (ChildList, child_list, Child)
FOLD_DEFINE_LIST (MergedList, merged_list, Merged)
FOLD_DEFINE_LIST (OrderList, order_list, uint64_t)

typedef struct
{
  FoldForest *forest;
  const uint32_t *rank;  /* [n_keys] */
  uint32_t *node_of_end; /* [n_ends] in terms of `merged` */
  MergedList merged;
  ChildList waiting; /* the next one last */
  PlaceList places;  /* of those that wait, in the same order */
  NumberList parts;  /* further nodes of the forest that are parts of the node in hand */
  PlaceList found;   /* what comes next below the node in hand */
  NumberList child_of_found;
  ChildList children; /* of the node in hand */
  OrderList order;    /* rank, child */
  NumberList offsets; /* by child: where its next place goes */
  struct
  {
    uint32_t node, child;
  } * slots; /* [n_keys] the child of that key, if the node is the one in hand (plus one) */
} Merger;

/* --- what comes next --- */

static void
find (Merger *self, FoldKey key, Place place)
{
  uint32_t node = self->merged.n, child;

  if (self->slots[key].node != node)
    {
      self->slots[key].node = node;
      self->slots[key].child = self->children.n;
      child_list_add (&self->children,
                      (Child){ key, self->merged.item[node - 1].depth + 1, 0 });
    }
  child = self->slots[key].child;
  self->children.item[child].n_places++;
  place_list_add (&self->found, place);
  number_list_add (&self->child_of_found, child);
}

/* What continues the stacks that pass `at`, and those of what is a part of it. */
static void
find_below (Merger *self, uint32_t at)
{
  ForestNode *nodes = self->forest->node;

  self->parts.n = 0;
  for (uint32_t i = 0;; i++)
    {
      for (uint32_t below = at + 1; below < nodes[at].end; below = nodes[below].end)
        if (nodes[below].key != 0)
          find (self, nodes[below].key, (Place){ below, 0 });
        else
          number_list_add (&self->parts, below);
      /* From here on the field tells the merged node. */
      nodes[at].parent = self->merged.n - 1;
      if (i == self->parts.n)
        return;
      at = self->parts.item[i];
    }
}

/* The next key outwards, and where to go on behind it; 0 at the end. */
static FoldKey
read_outwards (const FoldForest *forest, Place *place)
{
  const ForestNode *nodes = forest->node;
  uint32_t top = forest->top_of_end[place->end];
  FoldKey key;

  if (place->at == AT_PROCESS)
    {
      place->at = AT_THREAD;
      if (nodes[nodes[top].parent].key != 0)
        return nodes[nodes[top].parent].key;
    }
  if (place->at == AT_THREAD)
    {
      place->at = forest->node_of_end[place->end];
      if (nodes[top].key != 0)
        return nodes[top].key;
    }
  while (place->at != top)
    {
      key = nodes[place->at].key;
      place->at = nodes[place->at].parent;
      if (key != 0)
        return key;
    }
  return 0;
}

static void
find_above (Merger *self, Place place)
{
  FoldKey key = read_outwards (self->forest, &place);

  if (key == 0)
    self->node_of_end[place.end] = self->merged.n - 1;
  else
    find (self, key, place);
}

/* --- the children of a node --- */

static int
compare_u64 (const void *a, const void *b)
{
  uint64_t left = *(const uint64_t *) a, right = *(const uint64_t *) b;

  return (left > right) - (left < right);
}

/* Most families are small. */
static void
sort_u64 (uint64_t *values, uint32_t n)
{
  if (n > 16)
    {
      qsort (values, n, sizeof *values, compare_u64);
      return;
    }
  for (uint32_t i = 1; i < n; i++)
    {
      uint64_t value = values[i];
      uint32_t j = i;

      for (; j > 0 && values[j - 1] > value; j--)
        values[j] = values[j - 1];
      values[j] = value;
    }
}

/* The first one comes last, as it is next. */
static void
let_children_wait (Merger *self)
{
  uint32_t n = self->children.n, begin = self->places.n;
  uint64_t *order;
  uint32_t *offsets;

  order_list_reserve (&self->order, n);
  number_list_reserve (&self->offsets, n);
  order = self->order.item;
  offsets = self->offsets.item;
  for (uint32_t i = 0; i < n; i++)
    order[i] = (uint64_t) self->rank[self->children.item[i].key] << 32 | i;
  sort_u64 (order, n);

  for (uint32_t i = n; i-- > 0;)
    {
      uint32_t child = (uint32_t) order[i];

      child_list_add (&self->waiting, self->children.item[child]);
      offsets[child] = begin;
      begin += self->children.item[child].n_places;
    }

  place_list_reserve (&self->places, self->found.n);
  self->places.n += self->found.n;
  for (uint32_t i = 0; i < self->found.n; i++)
    self->places.item[offsets[self->child_of_found.item[i]]++] = self->found.item[i];
}

/* Makes the node that waits last, and lets its children wait in its place. */
static void
merge_next (Merger *self)
{
  Child next = self->waiting.item[--self->waiting.n];
  uint32_t begin = self->places.n - next.n_places;
  bool is_reversed = self->forest->top_of_end != NULL;

  merged_list_add (&self->merged, (Merged){ next.key, next.depth, 0 });
  self->found.n = self->child_of_found.n = self->children.n = 0;
  for (uint32_t i = begin; i < self->places.n; i++)
    if (is_reversed)
      find_above (self, self->places.item[i]);
    else
      find_below (self, self->places.item[i].at);
  /* All places count to the same row: they have the same path. */
  if (!is_reversed && next.n_places > 0)
    self->merged.item[self->merged.n - 1].row =
        self->forest->node[self->places.item[begin].at].row;
  self->places.n = begin;
  let_children_wait (self);
}

/* FALSE where there is more than one way to go: then the node before them waits. */
static bool
follow_inwards (Merger *self, Child *next, Place *place)
{
  ForestNode *nodes = self->forest->node;

  for (;; next->depth++)
    {
      ForestNode *node = &nodes[place->at];
      uint32_t below = place->at + 1;

      if (below < node->end && (nodes[below].end != node->end || nodes[below].key == 0))
        return false;
      merged_list_add (&self->merged, (Merged){ next->key, next->depth, node->row });
      node->parent = self->merged.n - 1;
      if (below == node->end)
        return true;
      place->at = below;
      next->key = nodes[below].key;
    }
}

static void
follow_outwards (Merger *self, Child *next, Place *place)
{
  for (; next->key != 0; next->depth++)
    {
      merged_list_add (&self->merged, (Merged){ next->key, next->depth, 0 });
      next->key = read_outwards (self->forest, place);
    }
  self->node_of_end[place->end] = self->merged.n - 1;
}

/* Most stacks end alone: what follows a single place while there is one way to go needs no sorting. */
static bool
follow (Merger *self)
{
  Child *next = &self->waiting.item[self->waiting.n - 1];
  Place *place = &self->places.item[self->places.n - 1];

  if (next->n_places != 1 || next->key == 0)
    return false;

  if (self->forest->top_of_end != NULL)
    follow_outwards (self, next, place);
  else if (!follow_inwards (self, next, place))
    return false;
  self->waiting.n--;
  self->places.n--;
  return true;
}

static void
wait_at_root (Merger *self, uint32_t n_ends)
{
  if (self->forest->top_of_end == NULL)
    place_list_add (&self->places, (Place){ 0, 0 });
  else
    for (uint32_t i = 0; i < n_ends; i++)
      if (self->forest->node_of_end[i] != FOLD_NOWHERE)
        place_list_add (&self->places, (Place){ AT_PROCESS, i });
  child_list_add (&self->waiting, (Child){ 0, 0, self->places.n });
}

/* --- by depth --- */

/* A walk meets the nodes of each depth in their order. What is next at each depth is known once the nodes of each are
 * counted; and where a node's children will begin is what is next one deeper when it is met. [merged->n] the place of
 * each, *(full)*; NULL if cancelled. */
static uint32_t *
lay_out (FoldPlan *plan, const MergedList *merged, FoldWork *work)
{
  g_autofree uint32_t *place = sysprof_large_new (merged->n, sizeof *place);
  g_autofree uint32_t *next = NULL; /* by depth */
  uint32_t n_depths = 0, at = 0;

  for (uint32_t i = 0; i < merged->n; i++)
    n_depths = MAX (n_depths, merged->item[i].depth + 1);
  next = g_new0 (uint32_t, n_depths + 1);
  for (uint32_t i = 0; i < merged->n; i++)
    next[merged->item[i].depth]++;
  for (uint32_t i = 0; i <= n_depths; i++)
    {
      uint32_t n = next[i];

      next[i] = at;
      at += n;
    }

  plan->n = merged->n;
  plan->parent = sysprof_large_new (plan->n, sizeof *plan->parent);
  plan->key = sysprof_large_new (plan->n, sizeof *plan->key);
  plan->first_child = sysprof_large_new ((size_t) plan->n + 1, sizeof *plan->first_child);
  plan->row = sysprof_large_new (plan->n, sizeof *plan->row);
  for (uint32_t i = 0; i < merged->n; i++)
    {
      const Merged *node = &merged->item[i];
      uint32_t to = next[node->depth]++;

      place[i] = to;
      plan->parent[to] = node->depth > 0 ? next[node->depth - 1] - 1 : 0;
      plan->key[to] = node->key;
      plan->first_child[to] = next[node->depth + 1];
      plan->row[to] = node->row;
      if (!sysprof_fold_work_at (work, i))
        return NULL;
    }
  plan->first_child[plan->n] = plan->n;
  return g_steal_pointer (&place);
}

static bool
merge (FoldPlan *plan, FoldForest *forest, uint32_t n_keys, uint32_t n_ends, FoldWork *work)
{
  Merger self = { .forest = forest, .rank = plan->rank, .node_of_end = plan->node_of_end };
  g_autofree uint32_t *place = NULL;
  uint32_t n_seen = 0;
  bool is_done = true;

  self.slots = g_malloc0_n (n_keys, sizeof *self.slots);
  wait_at_root (&self, n_ends);
  while (self.waiting.n > 0 && is_done)
    {
      if (!follow (&self))
        merge_next (&self);
      if (self.merged.n - n_seen >= FOLD_STEP)
        {
          is_done = sysprof_fold_work_step (work, self.merged.n - n_seen);
          n_seen = self.merged.n;
        }
    }

  if (is_done)
    place = lay_out (plan, &self.merged, work);
  is_done = place != NULL;
  if (is_done)
    {
      for (uint32_t i = 0; i < n_ends; i++)
        if (forest->node_of_end[i] == FOLD_NOWHERE)
          plan->node_of_end[i] = FOLD_NOWHERE;
        else
          plan->node_of_end[i] =
              place[forest->top_of_end != NULL ? plan->node_of_end[i]
                                               : forest->node[forest->node_of_end[i]].parent];
    }

  merged_list_clear (&self.merged);
  child_list_clear (&self.waiting);
  place_list_clear (&self.places);
  number_list_clear (&self.parts);
  place_list_clear (&self.found);
  number_list_clear (&self.child_of_found);
  child_list_clear (&self.children);
  order_list_clear (&self.order);
  number_list_clear (&self.offsets);
  g_free (self.slots);
  return is_done;
}

bool
sysprof_fold_plan_init (FoldPlan *self,
                        const Store *store,
                        const SymbolTable *symbols,
                        const TreeShape *shape,
                        const FoldQuestion *question,
                        const FoldEnds *ends,
                        FoldWork *work)
{
  TreeShape asked = question != NULL ? sysprof_fold_table_shape (shape) : *shape;
  FoldForest forest;
  bool is_done;

  *self = (FoldPlan){ .node_of_end = g_new (uint32_t, MAX (ends->n, 1)) };
  is_done = sysprof_fold_forest_init (&forest, store, symbols, &asked, ends, work);
  if (is_done && question != NULL)
    is_done = sysprof_fold_forest_answer (&forest, store, symbols, &asked, question, work);
  if (is_done)
    {
      self->rank = sysprof_key_ranks_new (store, symbols, &forest);
      is_done =
          merge (self, &forest, symbols->n + store->processes.n + forest.n_tids, ends->n, work);
    }
  self->tids = g_steal_pointer (&forest.tids);
  sysprof_fold_forest_clear (&forest);
  return is_done;
}

void
sysprof_fold_plan_clear (FoldPlan *self)
{
  g_free (self->parent);
  g_free (self->first_child);
  g_free (self->key);
  g_free (self->row);
  g_free (self->node_of_end);
  g_free (self->rank);
  g_free (self->tids);
  *self = (FoldPlan){ 0 };
}
