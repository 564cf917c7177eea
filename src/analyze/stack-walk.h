// SPDX-License-Identifier: GPL-3.0-or-later

/* Walks all stacks that weigh something, callers before callees, and comes back through each.
 *
 * What must count once per stack although it may recur in it is known on such a walk: it counts where it
 * is entered while not open above. Linear in the stacks, and without recursion: they may be 8,000 deep.
 *
 *   StackWalk walk;
 *   sysprof_stack_walk_init (&walk, store, weights);
 *   while (sysprof_stack_walk_next (&walk))
 *     … walk.at, walk.is_entering, walk.subtree[walk.at] …
 *   sysprof_stack_walk_clear (&walk);
 */

#pragma once

#include "analyze/analyze.h"

typedef struct
{
  StackId at;
  bool is_entering;
  const StackTree *stacks;
  uint64_t *subtree;     /* [stacks->n] weight of a stack and of all that continue it */
  StackId *first_child;  /* [stacks->n] among those with weight; 0 = none */
  StackId *next_sibling; /* [stacks->n] */
} StackWalk;

void sysprof_stack_walk_init (StackWalk *self, const Store *store, const StackWeights *weights);
bool sysprof_stack_walk_next (StackWalk *self);
void sysprof_stack_walk_clear (StackWalk *self);

static inline bool
sysprof_stack_is_kernel (const Store *store, StackId stack)
{
  return store->addresses.kind[store->stacks.address[stack]] == ADDRESS_KERNEL;
}

static inline SymbolId
sysprof_stack_symbol (const Store *store, const SymbolTable *symbols, StackId stack)
{
  return symbols->of_address[store->stacks.address[stack]];
}
