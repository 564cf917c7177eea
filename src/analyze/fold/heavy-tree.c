// SPDX-License-Identifier: GPL-3.0-or-later

/* The call tree without light nodes, which are nearly all nodes of a tree of many different
 * stacks.
 *
 * The weight of a node is known before its children are made. So light nodes and everything
 * below them are never merged. Nodes are made depth by depth, starting at the root. */

#include "analyze/fold/heavy-tree.h"

#include "analyze/fold/key-ranks.h"
#include "analyze/fold/list.h"
#include "analyze/fold/plan.h"
#include "analyze/fold/stack-keys.h"
#include "analyze/fold/stack-runs.h"
#include "analyze/fold/work.h"

/* A node of the tree: `n_places`, in the order of nodes, that it stands for. */
typedef struct
{
  FoldKey key;
  uint32_t parent;
  uint32_t n_places;
  uint32_t rank;
  uint64_t total;
  uint64_t self;
} HeavyNode;

/* Positions where stacks continue. */
typedef struct
{
  uint32_t at;     /* node of the forest, or stack */
  uint32_t run;    /* of the stack */
  uint32_t branch; /* of the run the first one that leaves it there or further in */
  uint64_t total;
} Place;

FOLD_DEFINE_LIST (HeavyList, heavy_list, HeavyNode)
FOLD_DEFINE_LIST (PlaceList, place_list, Place)

typedef struct HeavyTree HeavyTree;

struct HeavyTree
{
  /* Finds what is below a place that is a part of `node`. FALSE if cancelled. */
  bool (*find_below) (HeavyTree *self, uint32_t node, const Place *place);
  /* Of a forest: */
  const ForestNode *forest;
  const uint64_t *total; /* [forest.n] */
  /* Of stacks as they lie in the store: */
  StackKeys keys;
  StackRuns runs;
  const uint64_t *weight; /* [stacks.n] */
  uint64_t *run_total;    /* [runs.n] */

  const uint32_t *rank; /* [n_keys] */
  uint64_t least;
  HeavyList nodes;
  PlaceList places;    /* of the nodes from the one in hand on */
  PlaceList parts;     /* of the node in hand: further places that are a part of it */
  PlaceList found;     /* places below the node in hand */
  HeavyList children;  /* of it; `n_places` of `found` each */
  NumberList child_of; /* [found.n] */
  FoldWork *work;
  uint64_t n_seen;
  struct
  {
    uint32_t node, child;
  } * slots; /* [n_keys] the child of that key, if the node is the one in hand (plus one) */
};

static void
find (HeavyTree *self, uint32_t node, FoldKey key, Place below)
{
  HeavyNode *child;

  if (below.total == 0)
    return;
  if (key == 0)
    {
      place_list_add (&self->parts, below);
      return;
    }

  if (self->slots[key].node != node + 1)
    {
      self->slots[key].node = node + 1;
      self->slots[key].child = self->children.n;
      heavy_list_add (&self->children,
                      (HeavyNode){ .key = key, .parent = node, .rank = self->rank[key] });
    }
  child = &self->children.item[self->slots[key].child];
  child->total += below.total;
  child->n_places++;
  place_list_add (&self->found, below);
  number_list_add (&self->child_of, self->slots[key].child);
}

static bool
find_in_forest (HeavyTree *self, uint32_t node, const Place *place)
{
  uint32_t end = self->forest[place->at].end;

  for (uint32_t below = place->at + 1; below < end; below = self->forest[below].end)
    {
      if (!sysprof_fold_work_at (self->work, self->n_seen++))
        return false;
      find (self, node, self->forest[below].key,
            (Place){ .at = below, .total = self->total[below] });
    }
  return true;
}

/* The runs that leave the run of this position, and the rest of the run itself, which gets
 * the remaining weight. */
static bool
find_in_runs (HeavyTree *self, uint32_t node, const Place *place)
{
  const StackRuns *runs = &self->runs;
  FoldKey visible = self->nodes.item[node].key;
  Place next = { place->at + 1, place->run, place->branch,
                 place->total - self->weight[place->at] };

  for (; next.branch < runs->first_branch[next.run + 1]; next.branch++)
    {
      uint32_t run = runs->branch[next.branch];
      Place below = { runs->begin[run], run, runs->first_branch[run], self->run_total[run] };

      if (sysprof_stack_runs_leaves (runs, run) != place->at)
        break;
      if (!sysprof_fold_work_at (self->work, self->n_seen++))
        return false;
      next.total -= below.total;
      find (self, node, sysprof_stack_keys_get (&self->keys, below.at, visible), below);
    }
  if (next.at < runs->begin[next.run + 1])
    find (self, node, sysprof_stack_keys_get (&self->keys, next.at, visible), next);
  return true;
}

/* FALSE if cancelled. */
static bool
find_children (HeavyTree *self, uint32_t node, uint32_t first_place)
{
  uint32_t n_places = self->nodes.item[node].n_places;

  self->parts.n = self->found.n = self->child_of.n = self->children.n = 0;
  for (uint32_t i = 0; i < n_places + self->parts.n; i++)
    {
      Place place =
          i < n_places ? self->places.item[first_place + i] : self->parts.item[i - n_places];

      if (!self->find_below (self, node, &place) ||
          !sysprof_fold_work_at (self->work, self->n_seen++))
        return false;
    }
  return true;
}

/* Heaviest first, then by name. */
static int
compare_siblings (const void *a, const void *b, void *data)
{
  const HeavyNode *left = a, *right = b;

  if (left->total != right->total)
    return left->total > right->total ? -1 : 1;
  return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Adds the children that are heavy enough, and where they are. FALSE if cancelled. */
static bool
keep_children (HeavyTree *self, uint32_t node)
{
  g_autofree uint32_t *next = g_new (uint32_t, MAX (self->children.n, 1));
  uint64_t below = 0;
  uint32_t begin = self->nodes.n, at = self->places.n;

  for (uint32_t i = 0; i < self->children.n; i++)
    {
      HeavyNode *child = &self->children.item[i];

      below += child->total;
      if (child->total >= self->least)
        heavy_list_add (&self->nodes, *child);
    }
  self->nodes.item[node].self = self->nodes.item[node].total - below;

  if (!sysprof_fold_work_sort (self->work, self->nodes.item + begin, self->nodes.n - begin,
                               sizeof (HeavyNode), compare_siblings, NULL))
    return false;
  for (uint32_t i = 0; i < self->children.n; i++)
    next[i] = UINT32_MAX;
  for (uint32_t i = begin; i < self->nodes.n; i++)
    {
      next[self->slots[self->nodes.item[i].key].child] = at;
      at += self->nodes.item[i].n_places;
    }
  place_list_reserve (&self->places, at - self->places.n);
  self->places.n = at;
  for (uint32_t i = 0; i < self->found.n; i++)
    if (next[self->child_of.item[i]] != UINT32_MAX)
      self->places.item[next[self->child_of.item[i]]++] = self->found.item[i];
  return true;
}

/* FALSE if cancelled. */
static bool
make_nodes (HeavyTree *self, uint64_t total)
{
  uint32_t first_place = 0;

  heavy_list_add (&self->nodes, (HeavyNode){ .n_places = 1, .total = total });
  place_list_add (&self->places, (Place){ .total = total });
  for (uint32_t node = 0; node < self->nodes.n; node++)
    {
      if (!find_children (self, node, first_place) || !keep_children (self, node))
        return false;
      first_place += self->nodes.item[node].n_places;
    }
  return true;
}

/* The children of a node are neighbours. */
static CallTree *
dup_tree (const HeavyTree *self,
          const Store *store,
          const SymbolTable *symbols,
          const int32_t *tids)
{
  CallTree *tree = g_new0 (CallTree, 1);
  uint32_t n = self->nodes.n;
  g_autofree FoldKey *key = g_new (FoldKey, n);
  FoldPlan plan = { .key = key, .n = n, .tids = (int32_t *) tids };

  tree->n = n;
  tree->parent = g_new (CallNodeId, n);
  tree->first_child = g_new0 (CallNodeId, n);
  tree->next_sibling = g_new0 (CallNodeId, n);
  tree->symbol = g_new (SymbolId, n);
  tree->self = g_new (uint64_t, n);
  tree->total = g_new (uint64_t, n);
  tree->kind = g_new (uint8_t, n);
  tree->id = g_new (uint32_t, n);
  for (uint32_t i = 0; i < n; i++)
    {
      const HeavyNode *node = &self->nodes.item[i];

      key[i] = node->key;
      tree->parent[i] = node->parent;
      tree->self[i] = node->self;
      tree->total[i] = node->total;
      tree->kind[i] = (uint8_t) sysprof_fold_plan_get_kind (&plan, store, symbols, i,
                                                            &tree->symbol[i], &tree->id[i]);
      if (i > 1 && node->parent == node[-1].parent)
        tree->next_sibling[i - 1] = i;
      else if (i > 0)
        tree->first_child[node->parent] = i;
    }
  return tree;
}

/* NULL if cancelled. */
static CallTree *
new_tree (HeavyTree *self,
          const Store *store,
          const SymbolTable *symbols,
          const FoldForest *forest,
          uint64_t total)
{
  g_autofree uint32_t *rank = sysprof_key_ranks_new (store, symbols, forest, self->work);
  CallTree *tree = NULL;

  self->rank = rank;
  self->slots = g_malloc0_n ((size_t) symbols->n + store->processes.n +
                                 (forest != NULL ? forest->n_tids : 0),
                             sizeof *self->slots);
  if (rank != NULL && make_nodes (self, total))
    tree = dup_tree (self, store, symbols, forest != NULL ? forest->tids : NULL);

  heavy_list_clear (&self->nodes);
  place_list_clear (&self->places);
  place_list_clear (&self->parts);
  place_list_clear (&self->found);
  heavy_list_clear (&self->children);
  number_list_clear (&self->child_of);
  g_free (self->slots);
  return tree;
}

CallTree *
sysprof_heavy_tree_new (const Store *store,
                        const SymbolTable *symbols,
                        const TreeShape *shape,
                        const FoldEnds *ends,
                        const uint64_t *weight,
                        uint64_t least)
{
  FoldWork work = { .cancellable = g_cancellable_get_current () };
  HeavyTree self = { .find_below = find_in_forest, .least = MAX (least, 1), .work = &work };
  g_autofree uint64_t *total = NULL;
  FoldForest forest;
  CallTree *tree;

  if (!sysprof_fold_forest_init (&forest, store, symbols, shape, ends, &work))
    {
      sysprof_fold_forest_clear (&forest);
      return NULL;
    }
  total = sysprof_large_new0 (forest.n, sizeof *total);
  for (uint32_t i = 0; i < ends->n; i++)
    if (forest.node_of_end[i] != FOLD_NOWHERE)
      total[forest.node_of_end[i]] += weight[i];
  for (uint32_t i = forest.n; i-- > 1;)
    total[forest.node[i].parent] += total[i];

  self.forest = forest.node;
  self.total = total;
  tree = new_tree (&self, store, symbols, &forest, total[0]);
  sysprof_fold_forest_clear (&forest);
  return tree;
}

/* [runs->n] from the last to the first, as a run is complete when it is reached. *(full)* */
static uint64_t *
sum_runs (const StackRuns *runs, const uint64_t *weight)
{
  uint64_t *total = sysprof_large_new0 (runs->n, sizeof *total);
  g_autofree uint32_t *left = sysprof_stack_runs_new_left (runs);

  for (uint32_t run = runs->n; run-- > 0;)
    {
      for (StackId i = runs->begin[run]; i < runs->begin[run + 1]; i++)
        total[run] += weight[i];
      if (run > 0)
        total[left[run]] += total[run];
    }
  return total;
}

CallTree *
sysprof_heavy_tree_new_of_stacks (const Store *store,
                                  const SymbolTable *symbols,
                                  const TreeShape *shape,
                                  const StackWeights *weights,
                                  uint64_t least)
{
  FoldWork work = { .cancellable = g_cancellable_get_current () };
  HeavyTree self = {
    .find_below = find_in_runs, .weight = weights->self, .least = MAX (least, 1), .work = &work
  };
  CallTree *tree;

  sysprof_stack_keys_init (&self.keys, store, symbols, shape);
  sysprof_stack_runs_init (&self.runs, store);
  self.run_total = sum_runs (&self.runs, weights->self);
  tree = new_tree (&self, store, symbols, NULL, weights->total);
  g_free (self.run_total);
  sysprof_stack_runs_clear (&self.runs);
  sysprof_stack_keys_clear (&self.keys);
  return tree;
}
