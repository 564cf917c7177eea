// SPDX-License-Identifier: GPL-3.0-or-later

/* Weight per distinct stack of the samples that a filter takes. */

#include "analyze/selection/sample-matcher.h"
#include "analyze/selection/thread-weights.h"

void
sysprof_stack_weights_fold (StackWeights *self,
                            const Store *store,
                            const SymbolTable *symbols,
                            const SampleFilter *filter,
                            bool by_thread)
{
  const StackEvents *samples = sysprof_filter_events (filter, store);
  bool weighs_one = samples->weight == NULL || (filter != NULL && filter->weigh_one);
  g_autofree ThreadWeights *threads = by_thread ? sysprof_thread_weights_new () : NULL;
  SampleMatcher matcher;
  uint32_t begin;
  uint32_t end;

  sysprof_stack_weights_clear (self);
  self->self = sysprof_large_new0 (MAX (store->stacks.n, 1), sizeof (uint64_t));

  sysprof_sample_matcher_init (&matcher, store, symbols, filter);
  while (sysprof_sample_matcher_next_run (&matcher, &begin, &end))
    for (uint32_t i = begin; i < end && sysprof_is_wanted_at (i); i++)
      {
        uint64_t weight = 1;

        if (!sysprof_sample_matcher_takes (&matcher, i))
          continue;

        if (!weighs_one)
          weight = (uint64_t) MAX (samples->weight[i], 0);

        self->self[samples->stack[i]] += weight;
        self->total += weight;
        if (threads != NULL && weight > 0)
          sysprof_thread_weights_add (threads, samples->stack[i], samples->tid[i], weight);
      }
  sysprof_sample_matcher_clear (&matcher);

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
