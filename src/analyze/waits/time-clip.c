// SPDX-License-Identifier: GPL-3.0-or-later

/* The overlap of a wait with the selected spans of time. */

#include "analyze/waits/waits.h"

/* ns of a range before `time`. */
static int64_t
covered_by (const TimeClip *self, uint32_t range, int64_t time)
{
  return sysprof_time_between (MAX (self->ranges[range].begin, self->begin), time);
}

void
sysprof_time_clip_init (TimeClip *self, const Store *store, const SampleFilter *filter)
{
  static const SampleFilter everything = { 0 };

  if (filter == NULL)
    filter = &everything;
  *self = (TimeClip){ .ranges = filter->times, .n = filter->n_times };
  self->begin = store->begin;
  self->limits = (TimeRange){ store->begin, store->end };
  if (filter->time_begin != 0 || filter->time_end != 0)
    self->limits.begin = MAX (self->limits.begin, filter->time_begin);
  if (filter->time_end != 0)
    self->limits.end = MIN (self->limits.end, filter->time_end);
  if (self->limits.end < self->limits.begin)
    self->limits.end = self->limits.begin;
  if (filter->times == NULL)
    {
      self->ranges = &self->limits;
      self->n = 1;
    }

  self->before = g_new (int64_t, self->n + 1);
  self->before[0] = 0;
  for (uint32_t i = 0; i < self->n; i++)
    self->before[i + 1] =
        sysprof_time_sum (self->before[i], covered_by (self, i, self->ranges[i].end));
}

void
sysprof_time_clip_clear (TimeClip *self)
{
  g_free (self->before);
  *self = (TimeClip){ 0 };
}

/* The first range that ends after `time`. */
static uint32_t
find_range (const TimeClip *self, int64_t time)
{
  uint32_t low = 0, high = self->n;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (self->ranges[middle].end <= time)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static int64_t
covered_until (const TimeClip *self, int64_t time)
{
  uint32_t at = find_range (self, time);

  return at == self->n ? self->before[at]
                       : sysprof_time_sum (self->before[at], covered_by (self, at, time));
}

int64_t
sysprof_time_clip_overlap (const TimeClip *self, int64_t begin, int64_t end)
{
  return end > begin ? covered_until (self, end) - covered_until (self, begin) : 0;
}

int64_t
sysprof_time_clip_first (const TimeClip *self, int64_t time)
{
  uint32_t at = find_range (self, time);

  return at == self->n ? INT64_MAX : MAX (time, self->ranges[at].begin);
}
