// SPDX-License-Identifier: GPL-3.0-or-later

/* Merges entries of stacks into nodes.
 *
 * All entries that a node represents are handled at once. The entries that follow them are sorted
 * into children with a table of keys. The table is small enough for the CPU's caches, and the
 * number of the node marks stale entries. A table of (parent, key) would miss the cache in each
 * look-up. Each child is finished with everything below it before the next one.
 *
 * The weight of a child is known before it is made. So light children and everything below them
 * are never merged. */

#include "analyze/fold/plan.h"

#include "analyze/fold/key-ranks.h"
#include "analyze/fold/list.h"
#include "analyze/fold/stack-runs.h"
#include "analyze/fold/work.h"

/* An entry where a stack continues. Bottom-up trees share no callers, so they have one for each
 * entry where stacks end. */
typedef struct
{
  uint32_t at;     /* entry; bottom up perhaps one of the below */
  uint32_t branch; /* top down: the first stack run that leaves it, or a later entry;
                    * bottom up: the entry where the stack ends */
  uint64_t total;  /* weight of the stacks that continue there */
} Place;

#define AT_PROCESS (UINT32_MAX - 1) /* before its functions are read, what they hang on is */
#define AT_THREAD  (UINT32_MAX - 2)

/* A node that is still to be made. */
typedef struct
{
  FoldKey key;
  uint32_t parent; /* run */
  uint32_t n_places;
  uint64_t total;
} Child;

typedef struct
{
  uint32_t begin;  /* node */
  uint32_t parent; /* run */
  uint64_t self;   /* weight that ends at its last node */
  uint64_t light;  /* weight of light children of that node */
} Run;

FOLD_DEFINE_LIST (PlaceList, place_list, Place)
FOLD_DEFINE_LIST (ChildList, child_list, Child)
FOLD_DEFINE_LIST (RunList, run_list, Run)
FOLD_DEFINE_LIST (OrderList, order_list, uint64_t)

typedef struct
{
  const FoldEntries *entries;
  const uint32_t *rank; /* [n_keys] */
  uint64_t least;
  uint32_t *run_of_entry; /* [entries->n] or NULL */
  StackRuns stack_runs;   /* top down */
  NumberList keys;        /* of the nodes */
  RunList runs;
  bool is_open;      /* the last run continues with the next node */
  uint64_t n_seen;   /* entries */
  ChildList waiting; /* the next one last */
  PlaceList places;  /* of those that wait, in the same order */
  PlaceList parts;   /* further entries that are parts of the node in hand */
  PlaceList found;   /* what comes next below the node in hand */
  NumberList child_of_found;
  ChildList children; /* of the node in hand */
  OrderList order;    /* rank, child */
  NumberList offsets; /* by child: where its next place goes; FOLD_NOWHERE = it is light */
  struct
  {
    uint32_t node, child;
  } * slots; /* [n_keys] the child of that key, if the node is the one in hand (plus one) */
} Merger;

static inline void
add_node (Merger *self, const Child *child)
{
  if (!self->is_open)
    run_list_add (&self->runs, (Run){ .begin = self->keys.n, .parent = child->parent });
  number_list_add (&self->keys, child->key);
}

static inline Run *
run_in_hand (const Merger *self)
{
  return &self->runs.item[self->runs.n - 1];
}

/* Counts the stacks that end at an entry to the node in hand. */
static inline void
end_at (Merger *self, uint32_t entry)
{
  uint64_t weight = self->entries->weight[entry];

  if (weight == 0)
    return;
  run_in_hand (self)->self += weight;
  if (self->run_of_entry != NULL)
    self->run_of_entry[entry] = self->runs.n - 1;
}

/* --- what comes next --- */

static inline void
find (Merger *self, FoldKey key, Place place)
{
  uint32_t node = self->keys.n;
  Child *child;

  if (self->slots[key].node != node)
    {
      self->slots[key].node = node;
      self->slots[key].child = self->children.n;
      child_list_add (&self->children, (Child){ .key = key, .parent = self->runs.n - 1 });
    }
  child = &self->children.item[self->slots[key].child];
  child->n_places++;
  child->total += place.total;
  place_list_add (&self->found, place);
  number_list_add (&self->child_of_found, self->slots[key].child);
}

/* Steps through the places with a weight that follow `place`: the stack runs that leave it there,
 * then the rest of its own. `rest` begins as first_rest(). */
static inline Place
first_rest (const Merger *self, const Place *place)
{
  return (Place){ place->at + 1, place->branch,
                  place->total - self->entries->weight[place->at] };
}

static inline bool
next_below (const Merger *self, uint32_t at, Place *rest, Place *below)
{
  while (rest->total > 0)
    {
      const StackRun *run = &self->stack_runs.run[rest->branch];

      if (run->leaves != at)
        {
          *below = *rest;
          rest->total = 0;
          return true;
        }
      rest->branch++;
      if (run->total == 0)
        continue;
      *below = (Place){ run->begin, run->first_branch, run->total };
      rest->total -= run->total;
      return true;
    }
  return false;
}

/* Adds what follows an entry of the node in hand. */
static void
find_below (Merger *self, Place place)
{
  FoldKey visible = self->keys.item[self->keys.n - 1];
  Place rest = first_rest (self, &place), below;

  end_at (self, place.at);
  while (next_below (self, place.at, &rest, &below))
    {
      FoldKey key = sysprof_fold_entries_get_key (self->entries, below.at, visible);

      if (key != 0)
        find (self, key, below);
      else
        place_list_add (&self->parts, below);
    }
}

/* The next key outwards, and the position after it; 0 at the end. */
static FoldKey
read_outwards (const FoldEntries *entries, Place *place)
{
  uint32_t top = entries->top[place->branch];
  FoldKey key;

  if (place->at == AT_PROCESS)
    {
      place->at = AT_THREAD;
      if (entries->key[entries->parent[top]] != 0)
        return entries->key[entries->parent[top]];
    }
  if (place->at == AT_THREAD)
    {
      place->at = entries->begin != NULL ? entries->begin[place->branch] : place->branch;
      if (entries->key[top] != 0)
        return entries->key[top];
    }
  while (place->at != top)
    {
      key = entries->key[place->at];
      place->at = entries->parent[place->at];
      if (key != 0)
        return key;
    }
  return 0;
}

static void
find_above (Merger *self, Place place)
{
  FoldKey key = read_outwards (self->entries, &place);

  if (key == 0)
    end_at (self, place.branch);
  else
    find (self, key, place);
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

/* Adds those that are heavy enough in reverse order, because the last one is taken first. FALSE if
 * canceled. */
static bool
let_children_wait (Merger *self, const FoldWork *work)
{
  uint32_t n = self->children.n, n_kept = 0, begin = self->places.n;
  uint64_t *order;
  uint32_t *offsets;

  order_list_reserve (&self->order, n);
  number_list_reserve (&self->offsets, n);
  order = self->order.item;
  offsets = self->offsets.item;
  for (uint32_t i = 0; i < n; i++)
    {
      const Child *child = &self->children.item[i];

      offsets[i] = FOLD_NOWHERE;
      if (child->total < self->least)
        run_in_hand (self)->light += child->total;
      else
        order[n_kept++] = (uint64_t) self->rank[child->key] << 32 | i;
    }
  if (!sort_u64 (order, n_kept, work))
    return false;

  for (uint32_t i = n_kept; i-- > 0;)
    {
      uint32_t child = (uint32_t) order[i];

      child_list_add (&self->waiting, self->children.item[child]);
      offsets[child] = begin;
      begin += self->children.item[child].n_places;
    }

  place_list_reserve (&self->places, self->found.n);
  self->places.n = begin;
  for (uint32_t i = 0; i < self->found.n; i++)
    if (offsets[self->child_of_found.item[i]] != FOLD_NOWHERE)
      self->places.item[offsets[self->child_of_found.item[i]]++] = self->found.item[i];
  self->is_open =
      n_kept == 1 && run_in_hand (self)->self == 0 && run_in_hand (self)->light == 0;
  return true;
}

/* Makes the last pending node and replaces it by its children. FALSE if canceled. */
static bool
merge_next (Merger *self, const FoldWork *work)
{
  Child next = self->waiting.item[--self->waiting.n];
  uint32_t begin = self->places.n - next.n_places;

  add_node (self, &next);
  self->parts.n = self->found.n = self->child_of_found.n = self->children.n = 0;
  for (uint32_t i = 0; i < next.n_places + self->parts.n; i++)
    {
      if (self->entries->top != NULL)
        find_above (self, self->places.item[begin + i]);
      else
        find_below (self, i < next.n_places ? self->places.item[begin + i]
                                            : self->parts.item[i - next.n_places]);
      if (!sysprof_fold_work_is_wanted_at (work, i))
        return false;
    }
  self->places.n = begin;
  self->n_seen += next.n_places + self->parts.n;
  return let_children_wait (self, work);
}

/* FALSE where there is more than one way to go: then the node before them waits. */
static bool
follow_inwards (Merger *self, Child *next, Place *place)
{
  for (;;)
    {
      Place rest = first_rest (self, place), below, other;
      bool has_below = next_below (self, place->at, &rest, &below);
      FoldKey key = 0;

      if (has_below)
        {
          key = sysprof_fold_entries_get_key (self->entries, below.at, next->key);
          if (key == 0 || below.total < self->least ||
              next_below (self, place->at, &rest, &other))
            return false;
        }
      add_node (self, next);
      end_at (self, place->at);
      self->is_open = has_below && run_in_hand (self)->self == 0;
      if (!has_below)
        return true;
      *place = below;
      next->key = key;
      next->parent = self->runs.n - 1;
    }
}

static void
follow_outwards (Merger *self, Child *next, Place *place)
{
  for (; next->key != 0; next->key = read_outwards (self->entries, place))
    {
      add_node (self, next);
      self->is_open = true;
    }
  self->is_open = false;
  end_at (self, place->branch);
}

/* Most stacks end alone: what follows a single place while there is one way to go needs no sorting. */
static bool
follow (Merger *self)
{
  Child *next = &self->waiting.item[self->waiting.n - 1];
  uint32_t n_nodes = self->keys.n;
  bool is_done = true;
  Place *place;

  if (next->n_places != 1 || next->key == 0)
    return false;

  place = &self->places.item[self->places.n - 1];
  if (self->entries->top != NULL)
    follow_outwards (self, next, place);
  else
    is_done = follow_inwards (self, next, place);
  self->n_seen += self->keys.n - n_nodes;
  if (is_done)
    {
      self->waiting.n--;
      self->places.n--;
    }
  return is_done;
}

static void
wait_at_root (Merger *self)
{
  const FoldEntries *entries = self->entries;

  if (entries->top != NULL)
    {
      for (uint32_t i = 0; i < entries->n; i++)
        if (entries->weight[i] > 0)
          place_list_add (&self->places, (Place){ AT_PROCESS, i, entries->weight[i] });
    }
  else
    {
      sysprof_stack_runs_init (&self->stack_runs, entries->parent, entries->n);
      place_list_add (&self->places,
                      (Place){ .total = sysprof_stack_runs_sum (&self->stack_runs,
                                                                entries->weight, entries->n) });
    }
  child_list_add (&self->waiting, (Child){ .n_places = self->places.n });
}

static bool
merge (Merger *self, FoldWork *work)
{
  uint64_t n_noted = 0;

  wait_at_root (self);
  while (self->waiting.n > 0)
    {
      if (!follow (self) && !merge_next (self, work))
        return false;
      if (self->n_seen - n_noted >= FOLD_STEP)
        {
          if (!sysprof_fold_work_step (work, self->n_seen - n_noted))
            return false;
          n_noted = self->n_seen;
        }
    }
  return sysprof_fold_work_step (work, self->n_seen - n_noted);
}

static void
merger_clear (Merger *self)
{
  sysprof_stack_runs_clear (&self->stack_runs);
  number_list_clear (&self->keys);
  run_list_clear (&self->runs);
  child_list_clear (&self->waiting);
  place_list_clear (&self->places);
  place_list_clear (&self->parts);
  place_list_clear (&self->found);
  number_list_clear (&self->child_of_found);
  child_list_clear (&self->children);
  order_list_clear (&self->order);
  number_list_clear (&self->offsets);
  g_free (self->slots);
}

/* --- plans --- */

static void
fill_plan (FoldPlan *self, Merger *merger)
{
  uint32_t n = merger->runs.n;
  bool has_light = merger->least > 1;

  self->n_runs = n;
  self->parent = sysprof_large_new (n, sizeof *self->parent);
  self->end = sysprof_large_new (n, sizeof *self->end);
  self->begin = sysprof_large_new ((size_t) n + 1, sizeof *self->begin);
  self->sums = sysprof_large_new ((size_t) n + 2, sizeof *self->sums);
  if (has_light)
    self->light = sysprof_large_new (n, sizeof *self->light);
  self->sums[0] = self->sums[n + 1] = 0;
  for (uint32_t i = 0; i < n; i++)
    {
      const Run *run = &merger->runs.item[i];

      self->parent[i] = run->parent;
      self->end[i] = i + 1;
      self->begin[i] = run->begin;
      self->sums[i + 1] = run->self + run->light;
      if (has_light)
        self->light[i] = run->light;
    }
  for (uint32_t i = n; i-- > 1;)
    self->end[self->parent[i]] = MAX (self->end[self->parent[i]], self->end[i]);
  self->begin[n] = self->n = merger->keys.n;
  self->key = g_steal_pointer (&merger->keys.item);
}

bool
sysprof_fold_plan_init (FoldPlan *self,
                        const FoldEntries *entries,
                        uint32_t *rank,
                        uint32_t n_keys,
                        uint64_t least,
                        uint32_t *run_of_entry,
                        FoldWork *work)
{
  Merger merger = {
    .entries = entries,
    .rank = rank,
    .least = entries->top != NULL ? 1 : MAX (least, 1),
    .run_of_entry = run_of_entry,
    .slots = g_malloc0_n (n_keys, sizeof *merger.slots),
  };
  bool is_done;

  *self = (FoldPlan){ .rank = rank };
  if (run_of_entry != NULL)
    memset (run_of_entry, 0xff, entries->n * sizeof *run_of_entry); /* FOLD_NOWHERE */
  is_done = merge (&merger, work);
  if (is_done)
    fill_plan (self, &merger);
  merger_clear (&merger);
  return is_done && sysprof_fold_plan_sum (self, work);
}

bool
sysprof_fold_plan_init_stacks (FoldPlan *self,
                               FoldEntries *entries,
                               uint64_t least,
                               uint32_t *run_of_entry,
                               FoldWork *work)
{
  uint32_t n_keys =
      sysprof_fold_thread_key (entries->keys.store, entries->keys.symbols, entries->n_tids);
  uint32_t *rank = sysprof_key_ranks_new (entries, work);

  *self = (FoldPlan){ 0 };
  if (rank == NULL ||
      !sysprof_fold_plan_init (self, entries, rank, n_keys, least, run_of_entry, work))
    return false;
  self->tids = g_steal_pointer (&entries->tids);
  return true;
}

bool
sysprof_fold_plan_sum (FoldPlan *self, FoldWork *work)
{
  uint64_t sum = 0;

  for (uint32_t i = 0, stop; i < self->n_runs + 2; i = stop)
    {
      stop = MIN (self->n_runs + 2 - i, FOLD_STEP) + i;
      for (uint32_t j = i; j < stop; j++)
        self->sums[j] = sum += self->sums[j];
      if (!sysprof_fold_work_step (work, stop - i))
        return false;
    }
  return true;
}

void
sysprof_fold_plan_clear (FoldPlan *self)
{
  g_free (self->parent);
  g_free (self->end);
  g_free (self->begin);
  g_free (self->key);
  g_free (self->rank);
  g_free (self->tids);
  g_free (self->sums);
  g_free (self->light);
  *self = (FoldPlan){ 0 };
}
