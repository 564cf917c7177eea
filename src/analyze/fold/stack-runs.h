// SPDX-License-Identifier: GPL-3.0-or-later

/* A tree of stacks by its branches. A new stack is a row of consecutive numbers, each the caller of
 * the next: a *stack run*. There are several times fewer runs than stacks, so the order of a walk
 * takes several times less memory than that of all stacks. *Owned* by the code that walks. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct
{
  const uint32_t *parent; /* [n_stacks] borrowed; smaller than the stack itself */
  uint32_t n_stacks;
  uint32_t
      *begin; /* [n + 1] first stack of each run, ascending; the first run is stack 0 alone */
  uint32_t *branch;       /* [n - 1] all other runs, by the stack at which they leave another */
  uint32_t *first_branch; /* [n + 1] of each run the first one in `branch` that leaves it */
  uint32_t n;
} StackRuns;

void sysprof_stack_runs_init (StackRuns *self, const uint32_t *parent, uint32_t n_stacks);
void sysprof_stack_runs_clear (StackRuns *self);

/* [n] the weight of each run and of all that leaves it; `weight` is that of each stack. *(full)* */
uint64_t *sysprof_stack_runs_sum (const StackRuns *self, const uint64_t *weight);

/* Where `run`, which is not the first, leaves another. */
static inline uint32_t
sysprof_stack_runs_leaves (const StackRuns *self, uint32_t run)
{
  return self->parent[self->begin[run]];
}
