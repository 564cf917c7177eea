// SPDX-License-Identifier: GPL-3.0-or-later

/* Decides which samples a filter selects. See sample-matcher.h. */

#include "analyze/selection/sample-matcher.h"

#include "analyze/selection/stack-terms.h"

#include <stdlib.h>
#include <string.h>

#define N_CPUS 65536 /* all values of StackEvents.cpu */

static int
compare_tids (const void *a, const void *b)
{
  int32_t left = *(const int32_t *) a;
  int32_t right = *(const int32_t *) b;

  return (left > right) - (left < right);
}

bool
sysprof_filter_is_whole (const SampleFilter *filter)
{
  return !filter ||
         (filter->time_begin == 0 && filter->time_end == 0 && filter->n_times == 0 &&
          !filter->has_processes && filter->n_processes == 0 && !filter->has_tids &&
          filter->n_tids == 0 && !filter->has_cpus && filter->n_cpus == 0 &&
          filter->n_other_spans == 0 && (!filter->symbol_terms || !filter->symbol_terms[0]) &&
          (!filter->binary_terms || !filter->binary_terms[0]));
}

static void
take_times (SampleMatcher *self, const SampleFilter *filter)
{
  self->limits = (TimeRange){ INT64_MIN, INT64_MAX };
  if (filter->time_begin != 0 || filter->time_end != 0)
    self->limits.begin = filter->time_begin;
  if (filter->time_end != 0)
    self->limits.end = filter->time_end;

  self->times = filter->times;
  self->n_times = filter->n_times;
  if (filter->times == NULL)
    {
      self->times = &self->limits;
      self->n_times = 1;
    }
}

static void
leave_idle_out (SampleMatcher *self, const Store *store)
{
  ProcessId idle = sysprof_store_find_process (store, 0);

  if (idle == 0 || self->samples == &store->allocations || self->samples == &store->traces)
    return;

  if (self->process_is_in == NULL)
    {
      self->process_is_in = g_new (uint8_t, store->processes.n);
      memset (self->process_is_in, 1, store->processes.n);
    }
  self->process_is_in[idle] = 0;
}

void
sysprof_sample_matcher_init_events (SampleMatcher *self,
                                    const Store *store,
                                    const SampleFilter *filter)
{
  static const SampleFilter everything = { 0 };

  if (filter == NULL)
    filter = &everything;

  *self = (SampleMatcher){ .samples = sysprof_filter_events (filter, store),
                           .event_is_in = filter->event_is_in };
  take_times (self, filter);

  if (filter->has_processes)
    {
      self->process_is_in = g_new0 (uint8_t, MAX (store->processes.n, 1));
      for (uint32_t i = 0; i < filter->n_processes; i++)
        if (filter->processes[i] < store->processes.n)
          self->process_is_in[filter->processes[i]] = 1;
    }
  if (filter->no_idle)
    leave_idle_out (self, store);

  if (filter->has_cpus || filter->excludes_cpus)
    {
      self->cpu_is_in = g_new (uint8_t, N_CPUS);
      memset (self->cpu_is_in, filter->excludes_cpus, N_CPUS);
      for (uint32_t i = 0; i < filter->n_cpus; i++)
        if (filter->cpus[i] >= INT16_MIN && filter->cpus[i] <= INT16_MAX)
          self->cpu_is_in[(uint16_t) filter->cpus[i]] = !filter->excludes_cpus;
    }

  if (filter->has_tids || filter->excludes_tids)
    {
      self->has_tids = true;
      self->excludes_tids = filter->excludes_tids;
      self->n_tids = filter->n_tids;
      self->tids = g_memdup2 (filter->tids, filter->n_tids * sizeof *filter->tids);
      if (self->tids != NULL)
        qsort (self->tids, self->n_tids, sizeof *self->tids, compare_tids);
    }

  self->spans = filter->spans;
  self->n_spans = filter->n_spans;
  self->other_spans = filter->other_spans;
  self->n_other_spans = filter->n_other_spans;
  self->is_plain = self->spans == NULL && self->other_spans == NULL &&
                   self->process_is_in == NULL && self->cpu_is_in == NULL && !self->has_tids &&
                   self->event_is_in == NULL;
}

void
sysprof_sample_matcher_init (SampleMatcher *self,
                             const Store *store,
                             const SymbolTable *symbols,
                             const SampleFilter *filter)
{
  sysprof_sample_matcher_init_events (self, store, filter);
  if (filter == NULL)
    return;

  self->stack_is_in = sysprof_stack_terms_match (store, symbols, filter);
  self->is_plain = self->is_plain && self->stack_is_in == NULL;
}

void
sysprof_sample_matcher_clear (SampleMatcher *self)
{
  g_free (self->process_is_in);
  g_free (self->cpu_is_in);
  g_free (self->stack_is_in);
  g_free (self->tids);
  *self = (SampleMatcher){ 0 };
}

bool
sysprof_sample_matcher_next_run (SampleMatcher *self, uint32_t *begin, uint32_t *end)
{
  if (self->n_times == 0)
    return false;

  *begin = sysprof_stack_events_find_time (self->samples, self->times->begin);
  /* Nothing is behind the last instant that there is. */
  *end = self->times->end == INT64_MAX
             ? self->samples->n
             : sysprof_stack_events_find_time (self->samples, self->times->end);
  self->times++;
  self->n_times--;
  return true;
}

bool
sysprof_sample_matcher_takes_slowly (const SampleMatcher *self, uint32_t sample)
{
  const StackEvents *samples = self->samples;

  if (self->event_is_in != NULL && !self->event_is_in[sample])
    return false;

  if (self->spans != NULL &&
      !sysprof_owned_spans_contain (self->spans, self->n_spans, samples->time[sample],
                                    samples->pid[sample], samples->cpu[sample]))
    return false;

  if (self->other_spans != NULL &&
      sysprof_owned_spans_contain (self->other_spans, self->n_other_spans,
                                   samples->time[sample], samples->pid[sample],
                                   samples->cpu[sample]))
    return false;

  if (self->process_is_in != NULL && !self->process_is_in[samples->process[sample]])
    return false;

  if (self->cpu_is_in != NULL && !self->cpu_is_in[(uint16_t) samples->cpu[sample]])
    return false;

  if (self->stack_is_in != NULL && !self->stack_is_in[samples->stack[sample]])
    return false;

  return !self->has_tids ||
         (self->n_tids > 0 && bsearch (&samples->tid[sample], self->tids, self->n_tids,
                                       sizeof *self->tids, compare_tids) != NULL) !=
             self->excludes_tids;
}

uint32_t *
sysprof_samples_find (const Store *store,
                      const SymbolTable *symbols,
                      const SampleFilter *filter,
                      uint32_t *n_samples)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  SampleMatcher matcher;
  uint32_t begin;
  uint32_t end;

  sysprof_sample_matcher_init (&matcher, store, symbols, filter);
  while (sysprof_sample_matcher_next_run (&matcher, &begin, &end))
    for (uint32_t i = begin; i < end && sysprof_is_wanted_at (i); i++)
      if (sysprof_sample_matcher_takes (&matcher, i))
        g_array_append_val (found, i);
  sysprof_sample_matcher_clear (&matcher);

  *n_samples = found->len;
  return (uint32_t *) g_array_free (found, FALSE);
}
