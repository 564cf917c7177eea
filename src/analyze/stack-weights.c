// SPDX-License-Identifier: GPL-3.0-or-later

/* Weight per distinct stack of the samples that a filter takes.
 *
 * Samples lie in the order of time, so a span is found by bisection; everything else that a filter asks of
 * a sample is a look-up in a small table, and what it asks of a stack was answered once per stack. */

#include "analyze/stack-terms.h"
#include "analyze/thread-weights.h"

#define N_CPUS 65536 /* all values of StackEvents.cpu */

typedef struct
{
  uint8_t *process_is_in; /* [processes.n] or NULL: all are */
  uint8_t *cpu_is_in;     /* [N_CPUS], by the cpu as an unsigned number, or NULL */
  uint8_t *stack_is_in;   /* [stacks.n] or NULL */
  int32_t *tids;          /* [n_tids] ascending */
  uint32_t n_tids;
  bool has_tids;
} Sieve;

static int
compare_tids (const void *a, const void *b)
{
  int32_t left = *(const int32_t *) a;
  int32_t right = *(const int32_t *) b;

  return (left > right) - (left < right);
}

static void
sieve_init (Sieve *self,
            const Store *store,
            const SymbolTable *symbols,
            const SampleFilter *filter)
{
  *self = (Sieve){ 0 };

  if (filter->has_processes)
    {
      self->process_is_in = g_new0 (uint8_t, MAX (store->processes.n, 1));
      for (uint32_t i = 0; i < filter->n_processes; i++)
        if (filter->processes[i] < store->processes.n)
          self->process_is_in[filter->processes[i]] = 1;
    }

  if (filter->has_cpus)
    {
      self->cpu_is_in = g_new0 (uint8_t, N_CPUS);
      for (uint32_t i = 0; i < filter->n_cpus; i++)
        if (filter->cpus[i] >= INT16_MIN && filter->cpus[i] <= INT16_MAX)
          self->cpu_is_in[(uint16_t) filter->cpus[i]] = 1;
    }

  if (filter->has_tids)
    {
      self->has_tids = true;
      self->n_tids = filter->n_tids;
      self->tids = g_memdup2 (filter->tids, filter->n_tids * sizeof *filter->tids);
      if (self->tids != NULL)
        qsort (self->tids, self->n_tids, sizeof *self->tids, compare_tids);
    }

  self->stack_is_in = sysprof_stack_terms_match (store, symbols, filter);
}

static void
sieve_clear (Sieve *self)
{
  g_free (self->process_is_in);
  g_free (self->cpu_is_in);
  g_free (self->stack_is_in);
  g_free (self->tids);
}

static bool
sieve_takes (const Sieve *self, const StackEvents *samples, uint32_t i)
{
  if (self->process_is_in != NULL && !self->process_is_in[samples->process[i]])
    return false;

  if (self->cpu_is_in != NULL && !self->cpu_is_in[(uint16_t) samples->cpu[i]])
    return false;

  if (self->stack_is_in != NULL && !self->stack_is_in[samples->stack[i]])
    return false;

  return !self->has_tids ||
         (self->n_tids > 0 && bsearch (&samples->tid[i], self->tids, self->n_tids,
                                       sizeof *self->tids, compare_tids) != NULL);
}

/* The first sample at or after `time`. */
static uint32_t
find_time (const StackEvents *samples, int64_t time)
{
  uint32_t low = 0;
  uint32_t high = samples->n;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (samples->time[middle] < time)
        low = middle + 1;
      else
        high = middle;
    }

  return low;
}

void
sysprof_stack_weights_fold (StackWeights *self,
                            const Store *store,
                            const SymbolTable *symbols,
                            const SampleFilter *filter,
                            bool by_thread)
{
  static const SampleFilter everything = { 0 };
  const StackEvents *samples = &store->samples;
  g_autofree ThreadWeights *threads = by_thread ? sysprof_thread_weights_new () : NULL;
  uint32_t begin = 0;
  uint32_t end = samples->n;
  Sieve sieve;

  sysprof_stack_weights_clear (self);
  self->self = g_new0 (uint64_t, MAX (store->stacks.n, 1));

  if (filter == NULL)
    filter = &everything;

  if (filter->time_begin != 0 || filter->time_end != 0)
    begin = find_time (samples, filter->time_begin);
  if (filter->time_end != 0)
    end = find_time (samples, filter->time_end);

  sieve_init (&sieve, store, symbols, filter);
  for (uint32_t i = begin; i < end; i++)
    {
      uint64_t weight = 1;

      if (!sieve_takes (&sieve, samples, i))
        continue;

      if (samples->weight != NULL)
        weight = (uint64_t) MAX (samples->weight[i], 0);

      self->self[samples->stack[i]] += weight;
      self->total += weight;
      if (threads != NULL && weight > 0)
        sysprof_thread_weights_add (threads, samples->stack[i], samples->tid[i], weight);
    }
  sieve_clear (&sieve);

  if (threads != NULL)
    sysprof_thread_weights_finish (threads, self);
}

void
sysprof_stack_weights_clear (StackWeights *self)
{
  g_free (self->self);
  g_free (self->by_thread.stack);
  g_free (self->by_thread.tid);
  g_free (self->by_thread.self);
  *self = (StackWeights){ 0 };
}
