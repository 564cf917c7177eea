// SPDX-License-Identifier: GPL-3.0-or-later

/* Decides which events (marks, logs, D-Bus messages, allocations) a filter selects. */

#include "analyze/selection/selection.h"

static bool
asks_for_some (const char *const *terms)
{
  for (; terms != NULL && *terms != NULL; terms++)
    if (**terms != '!')
      return true;
  return false;
}

void
sysprof_event_matcher_init (EventMatcher *self, const Store *store, const SampleFilter *filter)
{
  static const SampleFilter everything = { 0 };

  *self = (EventMatcher){ .filter = filter != NULL ? filter : &everything };
  filter = self->filter;
  self->is_empty = filter->has_tids || asks_for_some (filter->symbol_terms) ||
                   asks_for_some (filter->binary_terms);
  if (!filter->has_processes)
    return;

  self->pids = g_hash_table_new (NULL, NULL);
  for (uint32_t i = 0; i < filter->n_processes; i++)
    if (filter->processes[i] < store->processes.n)
      g_hash_table_add (self->pids,
                        GINT_TO_POINTER (store->processes.row[filter->processes[i]].pid));
}

static bool
is_in_ranges (const TimeRange *ranges, uint32_t n, int64_t time)
{
  uint32_t low = 0, high = n;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (ranges[middle].end <= time)
        low = middle + 1;
      else
        high = middle;
    }

  return low < n && ranges[low].begin <= time;
}

static bool
takes_time (const SampleFilter *filter, int64_t time)
{
  if (filter->times != NULL)
    return is_in_ranges (filter->times, filter->n_times, time);
  if (filter->time_begin == 0 && filter->time_end == 0)
    return true;
  return time >= filter->time_begin && (filter->time_end == 0 || time < filter->time_end);
}

static bool
takes_cpu (const SampleFilter *filter, int16_t cpu)
{
  for (uint32_t i = 0; i < filter->n_cpus; i++)
    if (filter->cpus[i] == cpu)
      return !filter->excludes_cpus;
  return !filter->has_cpus;
}

static bool
takes_owner (const SampleFilter *filter, int64_t time, int32_t pid, int16_t cpu)
{
  return filter->other_spans == NULL ||
         !sysprof_owned_spans_contain (filter->other_spans, filter->n_other_spans, time, pid,
                                       cpu);
}

bool
sysprof_event_matcher_takes (const EventMatcher *self, int64_t time, int32_t pid, int16_t cpu)
{
  return !self->is_empty && takes_time (self->filter, time) && takes_cpu (self->filter, cpu) &&
         takes_owner (self->filter, time, pid, cpu) &&
         (self->pids == NULL || g_hash_table_contains (self->pids, GINT_TO_POINTER (pid)));
}

void
sysprof_event_matcher_clear (EventMatcher *self)
{
  g_clear_pointer (&self->pids, g_hash_table_unref);
  *self = (EventMatcher){ 0 };
}
