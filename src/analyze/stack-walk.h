// SPDX-License-Identifier: GPL-3.0-or-later

/* Walks all stacks that weigh something, callers before callees, and comes back through each.
 *
 * What must count once per stack although it may recur in it is known on such a walk: it counts where it
 * is entered while not open above. Linear in the stacks, and without recursion: they may be 8,000 deep.
 *
 * Children follow their parent at once, so that the walk reads memory from front to back: of what it needs of a
 * stack, all was copied there in the order of the walk. *Owned*.
 *
 *   StackWalk walk;
 *   sysprof_stack_walk_init (&walk, store, symbols, weights);
 *   while (sysprof_stack_walk_next (&walk))
 *     … walk.at->symbol, walk.level, walk.is_entering …
 *   sysprof_stack_walk_clear (&walk);
 */

#pragma once

#include "analyze/analyze.h"

typedef struct
{
  uint64_t self;
  uint64_t subtree; /* weight of the stack and of all that continue it */
  uint32_t end;     /* position of the first visit that does not continue it */
  uint32_t
      symbol : 31; /* SymbolId; 0 of a process. There are fewer of them than bytes of names. */
  uint32_t is_kernel : 1;
} StackVisit;

typedef struct
{
  const StackVisit *at;
  uint32_t level; /* of `at`: 0 = a process */
  bool is_entering;

  StackVisit *visits; /* [n_visits] */
  uint32_t n_visits;
  uint32_t next;  /* position of the next to enter */
  uint32_t *open; /* [n_open] positions of those entered and not left, outermost first */
  uint32_t n_open;
  uint32_t n_levels; /* more than any `level` */
} StackWalk;

void sysprof_stack_walk_init (StackWalk *self,
                              const Store *store,
                              const SymbolTable *symbols,
                              const StackWeights *weights);
void sysprof_stack_walk_clear (StackWalk *self);

static inline bool
sysprof_stack_walk_next (StackWalk *self)
{
  if (self->n_open > 0 && self->visits[self->open[self->n_open - 1]].end == self->next)
    {
      self->level = --self->n_open;
      self->at = &self->visits[self->open[self->n_open]];
      self->is_entering = false;
      return true;
    }

  if (self->next == self->n_visits)
    return false;

  self->level = self->n_open;
  self->at = &self->visits[self->next];
  self->is_entering = true;
  self->open[self->n_open++] = self->next++;
  return true;
}

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
