// SPDX-License-Identifier: GPL-3.0-or-later

/* The tree of stacks by its branches. A new stack is a row of numbers in turn, each the caller of the next: a *run*. Runs
 * are several times fewer than stacks, so that the order of a walk takes several times less memory than that of all
 * stacks. *Owned* by whoever walks. */

#pragma once

#include "analyze/analyze.h"

typedef struct
{
  const Store *store;
  StackId *
      begin; /* [n + 1] the first stack of each run, ascending; the first run is stack 0 alone */
  uint32_t
      *branch; /* [n - 1] all runs but the first, by the stack at which they leave another */
  uint32_t *first_branch; /* [n + 1] of each run the first one in `branch` that leaves it */
  uint32_t n;
} StackRuns;

void sysprof_stack_runs_init (StackRuns *self, const Store *store);
void sysprof_stack_runs_clear (StackRuns *self);

/* [n] the run that each leaves; of the first: 0. *(full)* */
uint32_t *sysprof_stack_runs_new_left (const StackRuns *self);

/* Where `run`, which is not the first, leaves another. */
static inline StackId
sysprof_stack_runs_leaves (const StackRuns *self, uint32_t run)
{
  return self->store->stacks.parent[self->begin[run]];
}
