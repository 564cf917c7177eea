// SPDX-License-Identifier: GPL-3.0-or-later

/* Marks by group and name: how often, how long, how regularly. */

#include "analyze/analyze.h"

#include <math.h>

#define LEAST_INTERVALS 3 /* of what can be called periodic */

/* A mark, sorted so that those of one name are neighbours, and among them those of one process, by time. */
typedef struct
{
  StringId group;
  StringId name;
  int32_t pid;
  uint32_t mark;
} Place;

static int
compare_places (const void *a, const void *b, void *data)
{
  const Place *left = a, *right = b;

  if (left->group != right->group)
    return left->group < right->group ? -1 : 1;
  if (left->name != right->name)
    return left->name < right->name ? -1 : 1;
  if (left->pid != right->pid)
    return left->pid < right->pid ? -1 : 1;
  return left->mark < right->mark ? -1 : left->mark > right->mark;
}

static unsigned
histogram_place (int64_t duration)
{
  return duration > 0 ? 63u - (unsigned) __builtin_clzll ((uint64_t) duration) : 0;
}

/* Mean interval, and its largest difference from the median, in each slice of the time; an interval counts where it ends. */
static void
find_rhythm (MarkSummary *summary, const Store *store, const Place *places, uint32_t n)
{
  int64_t first = INT64_MAX, last = INT64_MIN;
  double sum[MARK_RHYTHM_SIZE] = { 0 };
  double jitter[MARK_RHYTHM_SIZE] = { 0 };
  uint32_t count[MARK_RHYTHM_SIZE] = { 0 };

  for (uint32_t i = 0; i < n; i++)
    {
      first = MIN (first, store->marks[places[i].mark].time);
      last = MAX (last, store->marks[places[i].mark].time);
    }
  for (uint32_t i = 1; i < n; i++)
    {
      int64_t begin = store->marks[places[i - 1].mark].time;
      int64_t time = store->marks[places[i].mark].time;
      double share = (double) sysprof_time_between (first, time) /
                     (double) MAX (sysprof_time_between (first, last), 1);
      unsigned slice = (unsigned) MIN (share * MARK_RHYTHM_SIZE, MARK_RHYTHM_SIZE - 1);

      if (places[i].pid != places[i - 1].pid)
        continue;
      sum[slice] += (double) sysprof_time_between (begin, time);
      jitter[slice] = MAX (jitter[slice], fabs ((double) sysprof_time_between (begin, time) -
                                                (double) summary->interval));
      count[slice]++;
    }
  for (unsigned i = 0; i < MARK_RHYTHM_SIZE; i++)
    {
      summary->rhythm[i] = count[i] > 0 ? sum[i] / count[i] : NAN;
      summary->rhythm_jitter[i] = count[i] > 0 ? jitter[i] : NAN;
    }
}

/* Periodic is what mostly comes when it is expected: half of the intervals are within a quarter of the median. */
static void
find_period (MarkSummary *summary, const Store *store, const Place *places, uint32_t n)
{
  g_autofree int64_t *intervals = g_new (int64_t, n);
  uint32_t n_intervals = 0;
  Spread spread;

  for (uint32_t i = 1; i < n; i++)
    if (places[i].pid == places[i - 1].pid)
      intervals[n_intervals++] = sysprof_time_between (store->marks[places[i - 1].mark].time,
                                                       store->marks[places[i].mark].time);
  if (n_intervals < LEAST_INTERVALS)
    return;

  summary->interval = sysprof_spread_of (intervals, n_intervals).median;
  for (uint32_t i = 0; i < n_intervals; i++)
    intervals[i] = intervals[i] > summary->interval ? intervals[i] - summary->interval
                                                    : summary->interval - intervals[i];
  spread = sysprof_spread_of (intervals, n_intervals);
  summary->jitter = spread.p95;
  summary->is_periodic = summary->interval > 0 && spread.median <= summary->interval / 4;
}

static void
summarize (MarkSummary *summary,
           const Store *store,
           const Place *places,
           uint32_t n,
           const int64_t *self)
{
  g_autofree int64_t *durations = g_new (int64_t, n);

  *summary = (MarkSummary){ .group = places[0].group, .name = places[0].name };
  for (uint32_t i = 0; i < n; i++)
    {
      const Mark *mark = &store->marks[places[i].mark];

      durations[i] = MAX (mark->duration, 0);
      if (__builtin_add_overflow (summary->self, self[places[i].mark], &summary->self))
        summary->self = INT64_MAX;
      summary->histogram[histogram_place (durations[i])]++;
    }
  summary->durations = sysprof_spread_of (durations, n);
  find_period (summary, store, places, n);
  find_rhythm (summary, store, places, n);
}

static int
compare_summaries (const void *a, const void *b, void *data)
{
  const MarkSummary *left = a, *right = b;
  const Store *store = data;
  int order;

  if (left->durations.sum != right->durations.sum)
    return left->durations.sum < right->durations.sum ? 1 : -1;
  if (left->durations.n != right->durations.n)
    return left->durations.n < right->durations.n ? 1 : -1;
  order = strcmp (sysprof_store_string (store, left->group),
                  sysprof_store_string (store, right->group));
  return order != 0 ? order
                    : strcmp (sysprof_store_string (store, left->name),
                              sysprof_store_string (store, right->name));
}

MarkSummary *
sysprof_marks_summarize (const Store *store, const bool *is_in, uint32_t *n_summaries)
{
  g_autofree Place *places = g_new (Place, MAX (store->n_marks, 1));
  g_autofree int64_t *self = sysprof_marks_find_self (store);
  GArray *summaries = g_array_new (FALSE, FALSE, sizeof (MarkSummary));
  uint32_t n = 0;

  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted_at (i); i++)
    if (is_in[i])
      places[n++] =
          (Place){ store->marks[i].group, store->marks[i].name, store->marks[i].pid, i };
  if (!sysprof_sort_if_wanted (places, n, sizeof *places, compare_places, NULL))
    n = 0;

  for (uint32_t begin = 0, end; begin < n; begin = end)
    {
      for (end = begin + 1; end < n && places[end].group == places[begin].group &&
                            places[end].name == places[begin].name;
           end++)
        ;
      g_array_set_size (summaries, summaries->len + 1);
      summarize (&g_array_index (summaries, MarkSummary, summaries->len - 1), store,
                 places + begin, end - begin, self);
    }

  *n_summaries = summaries->len;
  if (summaries->len > 0)
    (void) sysprof_sort_if_wanted (summaries->data, summaries->len, sizeof (MarkSummary),
                                   compare_summaries, store);
  return (MarkSummary *) g_array_free (summaries, FALSE);
}
