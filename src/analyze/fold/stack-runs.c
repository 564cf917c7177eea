// SPDX-License-Identifier: GPL-3.0-or-later

/* Groups stacks that follow each other into runs, which are visited at once. See stack-runs.h. */

#include "analyze/fold/stack-runs.h"

#include "util/large.h"

#define DIGIT_BITS 12
#define N_DIGITS   (1u << DIGIT_BITS)

static bool
begins_run (const StackRuns *self, uint32_t stack)
{
  return self->parent[stack] != stack - 1 || self->parent[stack] == 0;
}

static void
find_runs (StackRuns *self)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->n_stacks; i++)
    self->n += begins_run (self, i);
  self->begin = sysprof_large_new ((size_t) self->n + 1, sizeof *self->begin);
  for (uint32_t i = 0; i < self->n_stacks; i++)
    if (begins_run (self, i))
      self->begin[n++] = i;
  self->begin[n] = self->n_stacks;
}

/* Puts what is in order of the lower digits in that of the digit at `shift`, too. */
static void
sort_by_digit (uint64_t *to, const uint64_t *from, uint32_t n, unsigned shift)
{
  uint32_t next[N_DIGITS] = { 0 };
  uint32_t sum = 0;

  for (uint32_t i = 0; i < n; i++)
    next[from[i] >> shift & (N_DIGITS - 1)]++;
  for (uint32_t i = 0; i < N_DIGITS; i++)
    {
      uint32_t count = next[i];

      next[i] = sum;
      sum += count;
    }
  for (uint32_t i = 0; i < n; i++)
    to[next[from[i] >> shift & (N_DIGITS - 1)]++] = from[i];
}

static void
sort_branches (StackRuns *self)
{
  uint32_t n = self->n > 0 ? self->n - 1 : 0;
  uint64_t *from = sysprof_large_new (MAX (n, 1), sizeof (uint64_t));
  uint64_t *to = sysprof_large_new (MAX (n, 1), sizeof (uint64_t));
  uint32_t run = 0;

  for (uint32_t i = 0; i < n; i++)
    from[i] = (uint64_t) sysprof_stack_runs_leaves (self, i + 1) << 32 | (i + 1);
  for (unsigned shift = 0; shift < 32 && self->n_stacks >> shift > 0; shift += DIGIT_BITS)
    {
      uint64_t *sorted = to;

      sort_by_digit (sorted, from, n, 32 + shift);
      to = from;
      from = sorted;
    }

  g_free (to);
  self->branch = sysprof_large_new (MAX (n, 1), sizeof *self->branch);
  self->first_branch = sysprof_large_new ((size_t) self->n + 1, sizeof *self->first_branch);
  for (uint32_t i = 0; i < n; i++)
    {
      self->branch[i] = (uint32_t) from[i];
      for (; self->begin[run] <= from[i] >> 32; run++)
        self->first_branch[run] = i;
    }
  while (run <= self->n)
    self->first_branch[run++] = n;
  g_free (from);
}

void
sysprof_stack_runs_init (StackRuns *self, const uint32_t *parent, uint32_t n_stacks)
{
  *self = (StackRuns){ .parent = parent, .n_stacks = n_stacks };
  find_runs (self);
  sort_branches (self);
}

uint64_t *
sysprof_stack_runs_sum (const StackRuns *self, const uint64_t *weight)
{
  uint64_t *total = sysprof_large_new0 (MAX (self->n, 1), sizeof *total);

  /* From the last to the first: what leaves a run has a higher number. */
  for (uint32_t run = self->n; run-- > 0;)
    {
      for (uint32_t i = self->begin[run]; i < self->begin[run + 1]; i++)
        total[run] += weight[i];
      for (uint32_t i = self->first_branch[run]; i < self->first_branch[run + 1]; i++)
        total[run] += total[self->branch[i]];
    }
  return total;
}

void
sysprof_stack_runs_clear (StackRuns *self)
{
  g_free (self->begin);
  g_free (self->branch);
  g_free (self->first_branch);
  *self = (StackRuns){ 0 };
}
