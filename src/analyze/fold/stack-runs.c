// SPDX-License-Identifier: GPL-3.0-or-later

/* Groups stacks that follow each other into runs, which are visited at once. See stack-runs.h. */

#include "analyze/fold/stack-runs.h"

#include "util/large.h"

#define DIGIT_BITS 12
#define N_DIGITS   (1u << DIGIT_BITS)

static bool
begins_run (const uint32_t *parent, uint32_t stack)
{
  return parent[stack] != stack - 1 || parent[stack] == 0;
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

/* [n] the stack that each run leaves, and its number in the order of stacks, in ascending order.
 * *(full)* */
static uint64_t *
sort_branches (const uint32_t *parent, const uint32_t *begin, uint32_t n, uint32_t n_stacks)
{
  uint64_t *from = sysprof_large_new (MAX (n, 1), sizeof (uint64_t));
  uint64_t *to = sysprof_large_new (MAX (n, 1), sizeof (uint64_t));

  for (uint32_t i = 0; i < n; i++)
    from[i] = (uint64_t) parent[begin[i]] << 32 | i;
  for (unsigned shift = 0; shift < 32 && n_stacks >> shift > 0; shift += DIGIT_BITS)
    {
      uint64_t *sorted = to;

      sort_by_digit (sorted, from, n, 32 + shift);
      to = from;
      from = sorted;
    }
  g_free (to);
  return from;
}

void
sysprof_stack_runs_init (StackRuns *self, const uint32_t *parent, uint32_t n_stacks)
{
  g_autofree uint32_t *begin = NULL, *first_branch = NULL;
  g_autofree uint64_t *sorted = NULL;
  uint32_t n = 0, branch = 0;

  *self = (StackRuns){ 0 };
  for (uint32_t i = 1; i < n_stacks; i++)
    self->n += begins_run (parent, i);
  begin = sysprof_large_new ((size_t) self->n + 1, sizeof *begin);
  for (uint32_t i = 1; i < n_stacks; i++)
    if (begins_run (parent, i))
      begin[n++] = i;
  begin[n] = n_stacks;

  sorted = sort_branches (parent, begin, n, n_stacks);
  first_branch = sysprof_large_new (MAX (n, 1), sizeof *first_branch);
  for (uint32_t i = 0; i < n; i++)
    {
      while (branch < n && sorted[branch] >> 32 < begin[i])
        branch++;
      first_branch[i] = branch;
    }
  self->run = sysprof_large_new ((size_t) n + 1, sizeof *self->run);
  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t run = (uint32_t) sorted[i];

      self->run[i] = (StackRun){ .leaves = (uint32_t) (sorted[i] >> 32),
                                 .begin = begin[run],
                                 .end = begin[run + 1],
                                 .first_branch = first_branch[run] };
    }
  self->run[n] = (StackRun){ .leaves = UINT32_MAX };
}

uint64_t
sysprof_stack_runs_sum (StackRuns *self, const uint64_t *weight, uint32_t n_stacks)
{
  uint64_t all = n_stacks > 0 ? weight[0] : 0;

  /* From the last to the first: a run comes after the one that it leaves. */
  for (uint32_t i = self->n; i-- > 0;)
    {
      StackRun *run = &self->run[i];

      for (uint32_t stack = run->begin; stack < run->end; stack++)
        run->total += weight[stack];
      for (uint32_t j = run->first_branch; self->run[j].leaves < run->end; j++)
        run->total += self->run[j].total;
      if (run->leaves == 0)
        all += run->total;
    }
  return all;
}

void
sysprof_stack_runs_clear (StackRuns *self)
{
  g_free (self->run);
  *self = (StackRuns){ 0 };
}
