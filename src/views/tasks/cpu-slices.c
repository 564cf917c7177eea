// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads scheduler slices: marks of the group "Scheduler" named "CPU 3", which all recorders
 * write. A slice that is in a joined capture twice counts once. */

#include "views/tasks/cpu-slices.h"

#include <string.h>

static const char group[] = "Scheduler";
static const char name_prefix[] = "CPU ";

#define NO_CPU (-1)

typedef struct
{
  const Store *store;
  TimeRange whole;         /* from the first to the last selected time */
  const TimeRange *ranges; /* [n_ranges] selected times; borrowed */
  uint32_t n_ranges;
} Slices;

static void
init_slices (Slices *self, const Store *store, const SampleFilter *filter)
{
  *self = (Slices){ .store = store, .whole = { store->begin, store->end } };
  if (filter != NULL && filter->times != NULL)
    {
      self->ranges = filter->times;
      self->n_ranges = filter->n_times;
      return;
    }

  if (filter != NULL && (filter->time_begin != 0 || filter->time_end != 0))
    {
      self->whole.begin = MAX (self->whole.begin, filter->time_begin);
      if (filter->time_end != 0)
        self->whole.end = MIN (self->whole.end, filter->time_end);
    }
  self->ranges = &self->whole;
  self->n_ranges = 1;
}

static bool
is_slice (const Store *store, const Mark *mark)
{
  return strcmp (sysprof_store_string (store, mark->group), group) == 0 &&
         g_str_has_prefix (sysprof_store_string (store, mark->name), name_prefix);
}

/* The name also has the number, but some recorders truncate long numbers. */
static int16_t
get_cpu (const Store *store, const Mark *mark)
{
  Text digits = sysprof_text_from_string (sysprof_store_string (store, mark->name) +
                                          strlen (name_prefix));
  uint64_t number;

  if (mark->cpu >= 0)
    return mark->cpu;
  return sysprof_text_u64 (&digits, &number) && number < INT16_MAX ? (int16_t) number : NO_CPU;
}

/* Nanoseconds of `part` within the ranges. Ranges, and the parts of one CPU, must be
 * ascending. */
static int64_t
measure_selected (const Slices *self, TimeRange part)
{
  const TimeRange *ranges = self->ranges;
  uint32_t low = 0, high = self->n_ranges;
  int64_t sum = 0;

  part.begin = MAX (part.begin, self->store->begin);
  part.end = MIN (part.end, self->store->end);
  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (ranges[middle].end <= part.begin)
        low = middle + 1;
      else
        high = middle;
    }
  for (; low < self->n_ranges && ranges[low].begin < part.end; low++)
    sum += MAX (0, MIN (part.end, ranges[low].end) - MAX (part.begin, ranges[low].begin));
  return sum;
}

bool
sysprof_store_has_slices (const Store *store)
{
  for (uint32_t i = 0; i < store->n_marks; i++)
    if (is_slice (store, &store->marks[i]))
      return true;
  return false;
}

bool
sysprof_cpu_uses_find (const Store *store, const SampleFilter *filter, CpuUse *uses, uint32_t n)
{
  /* time up to which slices of this CPU are counted */
  g_autofree int64_t *until = g_new0 (int64_t, n);
  SampleFilter whose = filter != NULL ? *filter : (SampleFilter){ 0 };
  EventMatcher matcher, whenever;
  Slices slices;
  bool is_answered;

  /* A switch is selected by its time; a slice counts with the part that is selected. */
  whose.times = NULL;
  whose.time_begin = whose.time_end = 0;
  sysprof_event_matcher_init (&whenever, store, &whose);
  sysprof_event_matcher_init (&matcher, store, filter);
  is_answered = !matcher.is_empty;
  init_slices (&slices, store, filter);
  for (uint32_t i = 0; is_answered && i < store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i];
      int16_t cpu = is_slice (store, mark) ? get_cpu (store, mark) : NO_CPU;
      TimeRange part = { mark->time, mark->time };

      if (cpu < 0 || (uint32_t) cpu >= n ||
          !sysprof_event_matcher_takes (&whenever, mark->time, mark->pid, cpu))
        continue;

      if (__builtin_add_overflow (mark->time, MAX (mark->duration, 0), &part.end))
        part.end = INT64_MAX;
      uses[cpu].n_switches +=
          sysprof_event_matcher_takes (&matcher, mark->time, mark->pid, cpu);
      part.begin = MAX (part.begin, until[cpu]);
      if (part.begin >= part.end)
        continue;
      uses[cpu].busy += measure_selected (&slices, part);
      until[cpu] = part.end;
    }
  sysprof_event_matcher_clear (&matcher);
  sysprof_event_matcher_clear (&whenever);
  return is_answered;
}

int64_t
sysprof_selected_time (const Store *store, const SampleFilter *filter)
{
  Slices slices;

  init_slices (&slices, store, filter);
  return measure_selected (&slices, slices.whole);
}
