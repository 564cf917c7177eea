// SPDX-License-Identifier: GPL-3.0-or-later

/* Merges the stacks of a forest into nodes.
 *
 * All positions of the forest that a node represents are handled at once. The entries that
 * follow them are sorted into children with a table of keys. The table is small enough for the
 * CPU's caches, and the number of the node marks stale entries. A table of (parent, key) would
 * miss the cache in each look-up. Each child is finished with everything below it before the
 * next one, so the nodes are in the order of the forest. */

#include "analyze/fold/plan.h"

#include "analyze/fold/key-ranks.h"
#include "analyze/fold/list.h"
#include "analyze/fold/work.h"

/* A position where a stack continues. Bottom-up trees share no callers, so they have one for
 * each end. */
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
  uint32_t parent; /* run */
  uint32_t n_places;
} Child;

typedef struct
{
  uint32_t begin;  /* node */
  uint32_t parent; /* run */
} Run;

FOLD_DEFINE_LIST (PlaceList, place_list, Place)
FOLD_DEFINE_LIST (ChildList, child_list, Child)
FOLD_DEFINE_LIST (RunList, run_list, Run)
FOLD_DEFINE_LIST (OrderList, order_list, uint64_t)

typedef struct
{
  FoldForest *forest;
  const uint32_t *rank; /* [n_keys] */
  uint32_t *run_of_end; /* [n_ends] set here only bottom up */
  uint8_t *has_end;     /* [forest->n] NULL bottom up */
  bool has_rows;
  NumberList keys; /* of the nodes */
  NumberList rows; /* of the nodes, where there are any */
  RunList runs;
  bool is_open;      /* the last run continues with the next node */
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

static void
add_node (Merger *self, const Child *child, uint32_t row)
{
  if (!self->is_open)
    run_list_add (&self->runs, (Run){ self->keys.n, child->parent });
  number_list_add (&self->keys, child->key);
  if (self->has_rows)
    number_list_add (&self->rows, row);
}

static uint32_t
run_in_hand (const Merger *self)
{
  return self->runs.n - 1;
}

/* --- what comes next --- */

static void
find (Merger *self, FoldKey key, Place place)
{
  uint32_t node = self->keys.n, child;

  if (self->slots[key].node != node)
    {
      self->slots[key].node = node;
      self->slots[key].child = self->children.n;
      child_list_add (&self->children, (Child){ key, run_in_hand (self), 0 });
    }
  child = self->slots[key].child;
  self->children.item[child].n_places++;
  place_list_add (&self->found, place);
  number_list_add (&self->child_of_found, child);
}

/* Adds what follows `at` in the stacks that pass it, and follows its parts. Returns whether
 * a stack ends there. */
static bool
find_below (Merger *self, uint32_t at)
{
  ForestNode *nodes = self->forest->node;
  bool has_end = false;

  self->parts.n = 0;
  for (uint32_t i = 0;; i++)
    {
      for (uint32_t below = at + 1; below < nodes[at].end; below = nodes[below].end)
        if (nodes[below].key != 0)
          find (self, nodes[below].key, (Place){ below, 0 });
        else
          number_list_add (&self->parts, below);
      /* From here on the field tells the run. */
      nodes[at].parent = run_in_hand (self);
      has_end |= self->has_end[at];
      if (i == self->parts.n)
        return has_end;
      at = self->parts.item[i];
    }
}

/* The next key outwards, and the position after it; 0 at the end. */
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

/* Returns whether the stack ends there. */
static bool
find_above (Merger *self, Place place)
{
  FoldKey key = read_outwards (self->forest, &place);

  if (key == 0)
    self->run_of_end[place.end] = run_in_hand (self);
  else
    find (self, key, place);
  return key == 0;
}

/* --- the children of a node --- */

static int
compare_u64 (const void *a, const void *b, void *data)
{
  uint64_t left = *(const uint64_t *) a, right = *(const uint64_t *) b;

  return (left > right) - (left < right);
}

/* Most families are small. FALSE if cancelled. */
static bool
sort_u64 (uint64_t *values, uint32_t n, const FoldWork *work)
{
  if (n > 16)
    return sysprof_fold_work_sort (work, values, n, sizeof *values, compare_u64, NULL);
  for (uint32_t i = 1; i < n; i++)
    {
      uint64_t value = values[i];
      uint32_t j = i;

      for (; j > 0 && values[j - 1] > value; j--)
        values[j] = values[j - 1];
      values[j] = value;
    }
  return true;
}

/* Adds them in reverse order, because the last one is taken first. FALSE if canceled. */
static bool
let_children_wait (Merger *self, const FoldWork *work)
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
  if (!sort_u64 (order, n, work))
    return false;

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
  return true;
}

/* Makes the last pending node and replaces it by its children. FALSE if canceled. */
static bool
merge_next (Merger *self, const FoldWork *work)
{
  Child next = self->waiting.item[--self->waiting.n];
  uint32_t begin = self->places.n - next.n_places;
  bool is_reversed = self->forest->top_of_end != NULL, has_end = false;
  uint32_t row = 0;

  /* All places count to the same row: they have the same path. */
  if (self->has_rows && next.n_places > 0)
    row = self->forest->node[self->places.item[begin].at].row;
  add_node (self, &next, row);
  self->found.n = self->child_of_found.n = self->children.n = 0;
  for (uint32_t i = begin; i < self->places.n; i++)
    {
      has_end |= is_reversed ? find_above (self, self->places.item[i])
                             : find_below (self, self->places.item[i].at);
      if (!sysprof_fold_work_is_wanted_at (work, i - begin))
        return false;
    }
  self->places.n = begin;
  self->is_open = !has_end && self->children.n == 1;
  return let_children_wait (self, work);
}

/* FALSE where there is more than one way to go: then the node before them waits. */
static bool
follow_inwards (Merger *self, Child *next, Place *place)
{
  ForestNode *nodes = self->forest->node;

  for (;;)
    {
      ForestNode *node = &nodes[place->at];
      uint32_t below = place->at + 1;

      if (below < node->end && (nodes[below].end != node->end || nodes[below].key == 0))
        return false;
      add_node (self, next, node->row);
      node->parent = run_in_hand (self);
      self->is_open = below < node->end && !self->has_end[place->at];
      if (below == node->end)
        return true;
      place->at = below;
      next->key = nodes[below].key;
      next->parent = run_in_hand (self);
    }
}

static void
follow_outwards (Merger *self, Child *next, Place *place)
{
  for (; next->key != 0; next->key = read_outwards (self->forest, place))
    {
      add_node (self, next, 0);
      self->is_open = true;
    }
  self->is_open = false;
  self->run_of_end[place->end] = run_in_hand (self);
}

/* Most stacks end alone: what follows a single place while there is one way to go needs no sorting. */
static bool
follow (Merger *self)
{
  Child *next = &self->waiting.item[self->waiting.n - 1];
  Place *place;

  if (next->n_places != 1 || next->key == 0)
    return false;

  place = &self->places.item[self->places.n - 1];
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

/* --- runs --- */

/* [forest->n] *(full)* */
static uint8_t *
mark_ends (const FoldForest *forest, uint32_t n_ends)
{
  uint8_t *has_end = g_malloc0 (forest->n);

  for (uint32_t i = 0; i < n_ends; i++)
    if (forest->node_of_end[i] != FOLD_NOWHERE)
      has_end[forest->node_of_end[i]] = 1;
  return has_end;
}

/* Of what is merged. */
static void
fill_runs (FoldRuns *runs, const Merger *merger, uint32_t n_ends)
{
  const FoldForest *forest = merger->forest;
  uint32_t n = merger->runs.n;

  runs->n = n;
  runs->parent = sysprof_large_new (n, sizeof *runs->parent);
  runs->end = sysprof_large_new (n, sizeof *runs->end);
  for (uint32_t i = 0; i < n; i++)
    {
      runs->parent[i] = merger->runs.item[i].parent;
      runs->end[i] = i + 1;
    }
  for (uint32_t i = n; i-- > 1;)
    runs->end[runs->parent[i]] = MAX (runs->end[runs->parent[i]], runs->end[i]);

  for (uint32_t i = 0; i < n_ends; i++)
    if (forest->node_of_end[i] == FOLD_NOWHERE)
      runs->of_end[i] = n;
    else if (forest->top_of_end == NULL)
      runs->of_end[i] = forest->node[forest->node_of_end[i]].parent;
}

static bool
merge (Merger *self, uint32_t n_keys, uint32_t n_ends, FoldWork *work)
{
  uint32_t n_seen = 0;

  self->slots = g_malloc0_n (n_keys, sizeof *self->slots);
  if (self->forest->top_of_end == NULL)
    self->has_end = mark_ends (self->forest, n_ends);
  wait_at_root (self, n_ends);
  while (self->waiting.n > 0)
    {
      if (!follow (self) && !merge_next (self, work))
        return false;
      if (self->keys.n - n_seen >= FOLD_STEP)
        {
          if (!sysprof_fold_work_step (work, self->keys.n - n_seen))
            return false;
          n_seen = self->keys.n;
        }
    }
  return true;
}

static void
merger_clear (Merger *self)
{
  number_list_clear (&self->keys);
  number_list_clear (&self->rows);
  run_list_clear (&self->runs);
  child_list_clear (&self->waiting);
  place_list_clear (&self->places);
  number_list_clear (&self->parts);
  place_list_clear (&self->found);
  number_list_clear (&self->child_of_found);
  child_list_clear (&self->children);
  order_list_clear (&self->order);
  number_list_clear (&self->offsets);
  g_free (self->has_end);
  g_free (self->slots);
}

static uint32_t
count_keys (const Store *store, const SymbolTable *symbols, const FoldForest *forest)
{
  return sysprof_fold_thread_key (store, symbols, 0) + forest->n_tids;
}

bool
sysprof_fold_plan_init_forest (FoldPlan *self,
                               FoldForest *forest,
                               uint32_t *rank,
                               uint32_t n_keys,
                               uint32_t n_ends,
                               FoldWork *work)
{
  Merger merger = { .forest = forest, .rank = rank };
  bool is_done;

  *self = (FoldPlan){ .runs.of_end = g_new (uint32_t, MAX (n_ends, 1)), .rank = rank };
  merger.run_of_end = self->runs.of_end;
  is_done = merge (&merger, n_keys, n_ends, work);
  if (is_done)
    {
      fill_runs (&self->runs, &merger, n_ends);
      self->begin = sysprof_large_new ((size_t) merger.runs.n + 1, sizeof *self->begin);
      for (uint32_t i = 0; i < merger.runs.n; i++)
        self->begin[i] = merger.runs.item[i].begin;
      self->begin[merger.runs.n] = self->n = merger.keys.n;
      self->key = g_steal_pointer (&merger.keys.item);
    }
  merger_clear (&merger);
  return is_done;
}

bool
sysprof_fold_plan_init (FoldPlan *self,
                        const Store *store,
                        const SymbolTable *symbols,
                        const TreeShape *shape,
                        const FoldEnds *ends,
                        FoldWork *work)
{
  FoldForest forest;
  uint32_t *rank;
  bool is_done;

  *self = (FoldPlan){ 0 };
  is_done = sysprof_fold_forest_init (&forest, store, symbols, shape, ends, work) &&
            (rank = sysprof_key_ranks_new (store, symbols, &forest, work)) != NULL &&
            sysprof_fold_plan_init_forest (self, &forest, rank,
                                           count_keys (store, symbols, &forest), ends->n, work);
  self->tids = g_steal_pointer (&forest.tids);
  sysprof_fold_forest_clear (&forest);
  return is_done;
}

static void
runs_clear (FoldRuns *self)
{
  g_free (self->parent);
  g_free (self->end);
  g_free (self->of_end);
}

void
sysprof_fold_plan_clear (FoldPlan *self)
{
  runs_clear (&self->runs);
  g_free (self->begin);
  g_free (self->key);
  g_free (self->rank);
  g_free (self->tids);
  *self = (FoldPlan){ 0 };
}

/* --- for a table --- */

static void
fill_rows (FoldTablePlan *self, const Merger *merger)
{
  uint32_t n_runs = merger->runs.n, n = 0;

  self->begin = sysprof_large_new ((size_t) n_runs + 1, sizeof *self->begin);
  self->row_here = sysprof_large_new (n_runs, sizeof *self->row_here);
  for (uint32_t i = 0; i < merger->rows.n; i++)
    n += (merger->rows.item[i] & FOLD_ROW_COUNTS) != 0;
  self->row = sysprof_large_new (MAX (n, 1), sizeof *self->row);

  n = 0;
  for (uint32_t i = 0; i < n_runs; i++)
    {
      uint32_t end = i + 1 < n_runs ? merger->runs.item[i + 1].begin : merger->rows.n;

      self->begin[i] = n;
      for (uint32_t node = merger->runs.item[i].begin; node < end; node++)
        if (merger->rows.item[node] & FOLD_ROW_COUNTS)
          self->row[n++] = merger->rows.item[node] & ~FOLD_ROW_COUNTS;
      self->row_here[i] = merger->rows.item[end - 1] & ~FOLD_ROW_COUNTS;
    }
  self->begin[n_runs] = n;
}

bool
sysprof_fold_table_plan_init (FoldTablePlan *self,
                              const Store *store,
                              const SymbolTable *symbols,
                              const TreeShape *shape,
                              const FoldRequest *question,
                              const FoldEnds *ends,
                              FoldWork *work)
{
  TreeShape asked = sysprof_fold_table_shape (shape);
  FoldForest forest;
  bool is_done;

  *self = (FoldTablePlan){ .runs.of_end = g_new (uint32_t, MAX (ends->n, 1)) };
  is_done = sysprof_fold_forest_init (&forest, store, symbols, &asked, ends, work) &&
            sysprof_fold_forest_answer (&forest, store, symbols, &asked, question, work);
  if (is_done)
    {
      Merger merger = { .forest = &forest, .has_rows = true };

      merger.rank = self->rank = sysprof_key_ranks_new (store, symbols, &forest, work);
      is_done = merger.rank != NULL &&
                merge (&merger, count_keys (store, symbols, &forest), ends->n, work);
      if (is_done)
        {
          fill_runs (&self->runs, &merger, ends->n);
          fill_rows (self, &merger);
        }
      merger_clear (&merger);
    }
  sysprof_fold_forest_clear (&forest);
  return is_done;
}

void
sysprof_fold_table_plan_clear (FoldTablePlan *self)
{
  runs_clear (&self->runs);
  g_free (self->begin);
  g_free (self->row);
  g_free (self->row_here);
  g_free (self->rank);
  *self = (FoldTablePlan){ 0 };
}
