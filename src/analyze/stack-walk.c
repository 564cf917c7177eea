// SPDX-License-Identifier: GPL-3.0-or-later

#include "analyze/stack-walk.h"

void
sysprof_stack_walk_init (StackWalk *self, const Store *store, const StackWeights *weights)
{
  const StackTree *stacks = &store->stacks;
  uint32_t n = MAX (stacks->n, 1);

  *self = (StackWalk){
    .stacks = stacks,
    .subtree = g_memdup2 (weights->self, n * sizeof *weights->self),
    .first_child = g_new0 (StackId, n),
    .next_sibling = g_new0 (StackId, n),
  };

  /* From the last to the first, a stack is complete when it is reached, and siblings end up ascending. */
  for (StackId i = n - 1; i > 0; i--)
    {
      StackId parent = stacks->parent[i];

      if (self->subtree[i] == 0)
        continue;

      self->subtree[parent] += self->subtree[i];
      self->next_sibling[i] = self->first_child[parent];
      self->first_child[parent] = i;
    }
}

bool
sysprof_stack_walk_next (StackWalk *self)
{
  StackId at = self->at;

  if (at == 0 || self->is_entering)
    {
      self->is_entering = self->first_child[at] != 0;
      if (self->is_entering)
        self->at = self->first_child[at];
      return self->at != 0;
    }

  if (self->next_sibling[at] != 0)
    {
      self->at = self->next_sibling[at];
      self->is_entering = true;
      return true;
    }

  self->at = self->stacks->parent[at];
  return self->at != 0;
}

void
sysprof_stack_walk_clear (StackWalk *self)
{
  g_free (self->subtree);
  g_free (self->first_child);
  g_free (self->next_sibling);
  *self = (StackWalk){ 0 };
}
