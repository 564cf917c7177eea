// SPDX-License-Identifier: GPL-3.0-or-later

#include "analyze/stack-walk.h"

/* What is known of each stack before its place in the walk is. */
typedef struct
{
  uint64_t subtree; /* weight */
  uint32_t n;       /* itself and the stacks with weight that continue it */
  uint32_t next;    /* where the next one that continues it goes */
} Place;

/* From the last to the first: a stack is complete when it is reached. */
static Place *
sum_subtrees (const StackTree *stacks, const StackWeights *weights)
{
  Place *places = sysprof_large_new0 (MAX (stacks->n, 1), sizeof (Place));

  for (StackId i = stacks->n; i-- > 1;)
    {
      Place *place = &places[i];

      place->subtree += weights->self[i];
      if (place->subtree == 0)
        continue;

      place->n++;
      /* The parent of processes is row 0: all of them. */
      places[stacks->parent[i]].subtree += place->subtree;
      places[stacks->parent[i]].n += place->n;
    }

  return places;
}

void
sysprof_stack_walk_init (StackWalk *self,
                         const Store *store,
                         const SymbolTable *symbols,
                         const StackWeights *weights)
{
  const StackTree *stacks = &store->stacks;
  g_autofree Place *places = sum_subtrees (stacks, weights);
  uint32_t n_levels = 1;

  *self = (StackWalk){ .n_visits = places[0].n };
  self->visits = sysprof_large_new (MAX (self->n_visits, 1), sizeof (StackVisit));

  /* From the first to the last: the parent's place is known, and who was there before. */
  places[0].next = 0;
  for (StackId i = 1; i < stacks->n; i++)
    {
      uint32_t at;

      if (places[i].n == 0)
        continue;

      at = places[stacks->parent[i]].next;
      places[stacks->parent[i]].next += places[i].n;
      places[i].next = at + 1;
      n_levels = MAX (n_levels, stacks->depth[i] + 1u);
      self->visits[at] = (StackVisit){
        .self = weights->self[i],
        .subtree = places[i].subtree,
        .end = at + places[i].n,
        .symbol = stacks->depth[i] > 0 ? sysprof_stack_symbol (store, symbols, i) : 0,
        .is_kernel = stacks->depth[i] > 0 && sysprof_stack_is_kernel (store, i),
      };
    }

  self->n_levels = n_levels;
  self->open = g_new (uint32_t, n_levels);
}

void
sysprof_stack_walk_clear (StackWalk *self)
{
  g_free (self->visits);
  g_free (self->open);
  *self = (StackWalk){ 0 };
}
