// SPDX-License-Identifier: GPL-3.0-or-later

/* The call tree without what weighs too little, which is nearly all of a tree of many different stacks.
 *
 * What a node weighs is known before its children are looked at, so what is too light is never merged, nor any of what
 * is below it. Nodes are made depth by depth, from the root on. */

#include "analyze/heavy-tree.h"

#include "analyze/fold-list.h"
#include "analyze/fold-plan.h"
#include "analyze/key-ranks.h"

#include <stdlib.h>

/* A node of the tree: `n_places` of the forest, in the order of nodes, that it stands for. */
typedef struct
{
  FoldKey key;
  uint32_t parent;
  uint32_t n_places;
  uint32_t rank;
  uint64_t total;
  uint64_t self;
} HeavyNode;

FOLD_DEFINE_LIST (HeavyList, heavy_list, HeavyNode)

typedef struct
{
  const ForestNode *forest;
  const uint64_t *total; /* [forest.n] */
  const uint32_t *rank;  /* [n_keys] */
  uint64_t least;
  HeavyList nodes;
  NumberList places;   /* of the nodes from the one in hand on */
  NumberList parts;    /* of the node in hand: further places that are a part of it */
  NumberList found;    /* places below the node in hand */
  HeavyList children;  /* of it; `n_places` of `found` each */
  NumberList child_of; /* [found.n] */
  struct
  {
    uint32_t node, child;
  } * slots; /* [n_keys] the child of that key, if the node is the one in hand (plus one) */
} HeavyTree;

static void
find (HeavyTree *self, uint32_t node, uint32_t below)
{
  FoldKey key = self->forest[below].key;
  HeavyNode *child;

  if (self->slots[key].node != node + 1)
    {
      self->slots[key].node = node + 1;
      self->slots[key].child = self->children.n;
      heavy_list_add (&self->children,
                      (HeavyNode){ .key = key, .parent = node, .rank = self->rank[key] });
    }
  child = &self->children.item[self->slots[key].child];
  child->total += self->total[below];
  child->n_places++;
  number_list_add (&self->found, below);
  number_list_add (&self->child_of, self->slots[key].child);
}

static void
find_children (HeavyTree *self, uint32_t node, uint32_t first_place)
{
  uint32_t n_places = self->nodes.item[node].n_places;

  self->parts.n = self->found.n = self->child_of.n = self->children.n = 0;
  for (uint32_t i = 0; i < n_places + self->parts.n; i++)
    {
      uint32_t at =
          i < n_places ? self->places.item[first_place + i] : self->parts.item[i - n_places];

      for (uint32_t below = at + 1; below < self->forest[at].end;
           below = self->forest[below].end)
        if (self->total[below] == 0)
          continue;
        else if (self->forest[below].key != 0)
          find (self, node, below);
        else
          number_list_add (&self->parts, below);
    }
}

/* Heaviest first, then by name. */
static int
compare_siblings (const void *a, const void *b)
{
  const HeavyNode *left = a, *right = b;

  if (left->total != right->total)
    return left->total > right->total ? -1 : 1;
  return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Adds the children that are heavy enough, and where they are. */
static void
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

  qsort (self->nodes.item + begin, self->nodes.n - begin, sizeof (HeavyNode), compare_siblings);
  for (uint32_t i = 0; i < self->children.n; i++)
    next[i] = UINT32_MAX;
  for (uint32_t i = begin; i < self->nodes.n; i++)
    {
      next[self->slots[self->nodes.item[i].key].child] = at;
      at += self->nodes.item[i].n_places;
    }
  number_list_reserve (&self->places, at - self->places.n);
  self->places.n = at;
  for (uint32_t i = 0; i < self->found.n; i++)
    if (next[self->child_of.item[i]] != UINT32_MAX)
      self->places.item[next[self->child_of.item[i]]++] = self->found.item[i];
}

static void
make_nodes (HeavyTree *self)
{
  uint32_t first_place = 0;

  heavy_list_add (&self->nodes, (HeavyNode){ .n_places = 1, .total = self->total[0] });
  number_list_add (&self->places, 0);
  for (uint32_t node = 0; node < self->nodes.n; node++)
    {
      find_children (self, node, first_place);
      keep_children (self, node);
      first_place += self->nodes.item[node].n_places;
    }
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

CallTree *
sysprof_heavy_tree_new (const Store *store,
                        const SymbolTable *symbols,
                        const TreeShape *shape,
                        const FoldEnds *ends,
                        const uint64_t *weight,
                        uint64_t least)
{
  HeavyTree self = { .least = MAX (least, 1) };
  g_autofree uint64_t *total = NULL;
  g_autofree uint32_t *rank = NULL;
  FoldForest forest;
  CallTree *tree;

  (void) sysprof_fold_forest_init (&forest, store, symbols, shape, ends, NULL);
  total = sysprof_large_new0 (forest.n, sizeof *total);
  for (uint32_t i = 0; i < ends->n; i++)
    if (forest.node_of_end[i] != FOLD_NOWHERE)
      total[forest.node_of_end[i]] += weight[i];
  for (uint32_t i = forest.n; i-- > 1;)
    total[forest.node[i].parent] += total[i];
  rank = sysprof_key_ranks_new (store, symbols, &forest, NULL);

  self.forest = forest.node;
  self.total = total;
  self.rank = rank;
  self.slots = g_malloc0_n ((size_t) symbols->n + store->processes.n + forest.n_tids,
                            sizeof *self.slots);
  make_nodes (&self);
  tree = dup_tree (&self, store, symbols, forest.tids);

  heavy_list_clear (&self.nodes);
  number_list_clear (&self.places);
  number_list_clear (&self.parts);
  number_list_clear (&self.found);
  heavy_list_clear (&self.children);
  number_list_clear (&self.child_of);
  g_free (self.slots);
  sysprof_fold_forest_clear (&forest);
  return tree;
}
