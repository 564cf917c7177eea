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
  uint32_t leaves;       /* the stack, of another run, that calls the first one */
  uint32_t begin;        /* the first stack */
  uint32_t end;          /* the number after the last one */
  uint32_t first_branch; /* the first run with `leaves` >= begin */
  uint64_t total;        /* weight of its stacks and of all that leave them: see _sum() */
} StackRun;

/* Stack 0 is the root, and in no run. */
typedef struct
{
  StackRun *run; /* [n + 1] by `leaves`; the last one has UINT32_MAX there */
  uint32_t n;
} StackRuns;

/* `parent` [n_stacks] is smaller than the stack itself. */
void sysprof_stack_runs_init (StackRuns *self, const uint32_t *parent, uint32_t n_stacks);
void sysprof_stack_runs_clear (StackRuns *self);

/* Sets `total` of all runs, with the weight of each stack. Returns that of all. */
uint64_t sysprof_stack_runs_sum (StackRuns *self, const uint64_t *weight, uint32_t n_stacks);
