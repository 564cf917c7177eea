// SPDX-License-Identifier: GPL-3.0-or-later

/* CPU time and resident memory of processes in a time range, from the counters of category
 * "Process" (docs/format.md). */

#include "analyze/analyze.h"

#include <string.h>

#define MAX_TIME (INT64_C (1) << 62) /* ns; no process has used more */

/* The hull of the times that a filter selects. */
static TimeRange
selected_time (const Store *store, const SampleFilter *filter)
{
  TimeRange time = { store->begin, store->end };

  if (filter == NULL)
    return time;
  if (filter->time_begin != 0)
    time.begin = MAX (time.begin, filter->time_begin);
  if (filter->time_end != 0)
    time.end = MIN (time.end, filter->time_end);
  if (filter->times != NULL && filter->n_times > 0)
    time = (TimeRange){ filter->times[0].begin, filter->times[filter->n_times - 1].end };
  return time;
}

/* The number of values of the counter at or before `time`. */
static uint32_t
count_until (const Store *store, const Counter *counter, int64_t time)
{
  uint32_t low = 0, high = counter->n_values;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (store->counters.time[counter->first_value + middle] <= time)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* The CPU time until `time`: between two readings in proportion, 0 before the first. */
static double
cpu_time_until (const Store *store, const Counter *counter, int64_t time)
{
  const int64_t *times = store->counters.time + counter->first_value;
  const CounterValue *values = store->counters.value + counter->first_value;
  uint32_t n = count_until (store, counter, time);
  double value, next;

  if (n == 0)
    return 0;
  value = (double) values[n - 1].i64;
  if (n == counter->n_values)
    return value;
  next = (double) values[n].i64;
  return value +
         (next - value) * (double) (time - times[n - 1]) / (double) (times[n] - times[n - 1]);
}

static void
add_cpu_time (const Store *store,
              const Counter *counter,
              const TimeRange *time,
              ProcessUsage *usage)
{
  double nsec =
      cpu_time_until (store, counter, time->end) - cpu_time_until (store, counter, time->begin);

  /* What it used after a single reading is unknown. */
  if (counter->n_values == 1 && nsec <= 0)
    return;
  /* Several counters have the same pid if the pid was used again. */
  usage->cpu_time =
      sysprof_time_sum (MAX (usage->cpu_time, 0), (int64_t) CLAMP (nsec, 0, (double) MAX_TIME));
}

static void
add_resident (const Store *store,
              const Counter *counter,
              const TimeRange *time,
              ProcessUsage *usage)
{
  const CounterValue *values = store->counters.value + counter->first_value;
  uint32_t end = count_until (store, counter, time->end);
  uint32_t first = count_until (store, counter, time->begin);

  first -= first > 0; /* the value at the begin */
  for (uint32_t i = first; i < end; i++)
    usage->resident_max = MAX (usage->resident_max, values[i].i64);
  if (first >= end)
    return;
  if (usage->resident_first < 0)
    usage->resident_first = values[first].i64;
  usage->resident_last = values[end - 1].i64;
  usage->resident = (CounterPart){ counter->first_value + first, end - first };
}

/* Whether the process was read in the range, or before and after it. */
static bool
is_read (const Store *store, const Counter *counter, const TimeRange *time)
{
  uint32_t before = count_until (store, counter, time->begin - 1);

  return before < counter->n_values &&
         (before > 0 || count_until (store, counter, time->end) > before);
}

ProcessUsage *
sysprof_usage_of_processes (const Store *store, const SampleFilter *filter, TimeRange *time)
{
  static const struct
  {
    const char *name; /* prefix */
    void (*add) (const Store *, const Counter *, const TimeRange *, ProcessUsage *);
  } kinds[] = {
    { "CPU Time (", add_cpu_time },
    { "Resident (", add_resident },
  };
  ProcessUsage *usage = g_new (ProcessUsage, MAX (store->processes.n, 1));

  *time = selected_time (store, filter);
  for (ProcessId i = 0; i < MAX (store->processes.n, 1); i++)
    usage[i] = (ProcessUsage){
      .cpu_time = -1, .resident_first = -1, .resident_last = -1, .resident_max = -1
    };
  for (uint32_t i = 0; i < store->counters.n && sysprof_is_wanted_at (i); i++)
    {
      const Counter *counter = &store->counters.row[i];
      ProcessId process = sysprof_store_find_process (store, counter->pid);

      if (process == 0 || counter->is_double ||
          strcmp (sysprof_store_string (store, counter->category), "Process") != 0 ||
          !is_read (store, counter, time))
        continue;
      for (size_t j = 0; j < G_N_ELEMENTS (kinds); j++)
        if (g_str_has_prefix (sysprof_store_string (store, counter->name), kinds[j].name))
          kinds[j].add (store, counter, time, &usage[process]);
    }
  return usage;
}
