// SPDX-License-Identifier: GPL-3.0-or-later

/* Tracks of samples and allocations: values over time. */

#include "text/text.h"
#include "views/tracks/track-parts.h"

#include <math.h>
#include <string.h>

#define FRAME_ALLOCATION 14 /* docs/format.md */
#define PERCENT          100.0

static void
put (TrackSeries *series, uint32_t bin, double value)
{
  series->least[bin] = fmin (series->least[bin], value);
  series->most[bin] = fmax (series->most[bin], value);
}

/* Calls `func` for each event of `events` that the filter takes within the shown time. */
typedef void EventFunc (TrackFill *fill, const StackEvents *events, uint32_t i, void *data);

static void
for_each_event (TrackFill *fill, const StackEvents *events, EventFunc *func, void *data)
{
  SampleFilter filter = fill->filter;
  g_autofree uint32_t *found = NULL;
  uint32_t n;

  filter.events = events;
  filter.event_is_in = NULL;
  found = sysprof_samples_find (fill->store, fill->request->symbols, &filter, &n);
  for (uint32_t i = 0; i < n && sysprof_is_wanted_at (i); i++)
    func (fill, events, found[i], data);
}

static uint32_t
bin_of (const TrackFill *fill, const StackEvents *events, uint32_t i)
{
  int64_t offset = sysprof_request_offset (fill->request, events->time[i]);

  return sysprof_track_bin (fill, CLAMP (offset, fill->query->begin, fill->query->end));
}

static void
put_depth (TrackFill *fill, const StackEvents *events, uint32_t i, void *data)
{
  Track *track = data;
  double depth = fill->store->stacks.depth[events->stack[i]];

  put (track->series, bin_of (fill, events, i), depth);
  sysprof_track_select (fill, track->series,
                        sysprof_request_offset (fill->request, events->time[i]), depth, 1);
  track->activity++;
}

static void
fill_depths (TrackFill *fill, const TrackSource *source, const StackEvents *events)
{
  Track *track = sysprof_track_fill_add (fill, source, source->title);

  (void) sysprof_track_add_series (fill, track, "Depth of stacks");
  for_each_event (fill, events, put_depth, track);
  for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
    if (isfinite (track->series->least[bin]))
      track->series->least[bin] = 0;
  sysprof_track_measure (fill, track);
}

void
sysprof_fill_sample_tracks (TrackFill *fill, const TrackSource *source)
{
  fill_depths (fill, source, &fill->store->samples);
}

void
sysprof_fill_allocation_stack_tracks (TrackFill *fill, const TrackSource *source)
{
  fill_depths (fill, source, &fill->store->allocations);
}

typedef struct
{
  Track *track;
  uint8_t *category; /* [stacks.n] */
} Counting;

static void
count_category (TrackFill *fill, const StackEvents *events, uint32_t i, void *data)
{
  Counting *counting = data;
  TrackSeries *series = counting->track->series;
  uint8_t category = counting->category[events->stack[i]];
  uint32_t bin = bin_of (fill, events, i);

  series[category].most[bin] =
      isfinite (series[category].most[bin]) ? series[category].most[bin] + 1 : 1;
  counting->track->activity++;
}

/* Samples of each category in a bin, one above the other; the fullest bin has 100 %. */
void
sysprof_fill_category_tracks (TrackFill *fill, const TrackSource *source)
{
  Track *track = sysprof_track_fill_add (fill, source, source->title);
  g_autofree uint8_t *category =
      sysprof_stacks_categorize (fill->store, fill->request->symbols, NULL);
  g_autofree double *base = g_new0 (double, fill->query->n_bins);
  Counting counting = { .track = track, .category = category };
  double most = 1;

  for (unsigned i = 0; i < N_CATEGORIES; i++)
    (void) sysprof_track_add_series (fill, track, sysprof_category_to_string (i));
  for_each_event (fill, &fill->store->samples, count_category, &counting);
  for (unsigned i = 0; i < N_CATEGORIES; i++)
    for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
      if (isfinite (track->series[i].most[bin]))
        {
          track->series[i].least[bin] = base[bin];
          track->series[i].most[bin] += base[bin];
          base[bin] = track->series[i].most[bin];
          most = fmax (most, base[bin]);
        }
  for (unsigned i = 0; i < N_CATEGORIES; i++)
    for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
      {
        track->series[i].least[bin] *= PERCENT / most;
        track->series[i].most[bin] *= PERCENT / most;
      }
  sysprof_track_measure (fill, track);
}

static void
put_size (TrackFill *fill, const StackEvents *events, uint32_t i, void *data)
{
  Track *track = data;
  uint32_t bin = bin_of (fill, events, i);
  double before = isfinite (track->series->most[bin]) ? track->series->most[bin] : 0;

  track->series->most[bin] = before + (double) events->weight[i];
  track->series->least[bin] = 0;
  track->activity++;
}

void
sysprof_fill_allocation_tracks (TrackFill *fill, const TrackSource *source)
{
  Track *track = sysprof_track_fill_add (fill, source, source->title);

  (void) sysprof_track_add_series (fill, track, "Allocated");
  for_each_event (fill, &fill->store->allocations, put_size, track);
  sysprof_track_measure (fill, track);
}

/* [allocations.n] 1 for those that the filter takes at any time. *(full)* */
static uint8_t *
find_taken (TrackFill *fill)
{
  const StackEvents *events = &fill->store->allocations;
  uint8_t *is_taken = g_new0 (uint8_t, MAX (events->n, 1));
  SampleFilter filter = fill->filter;
  g_autofree uint32_t *found = NULL;
  uint32_t n;

  filter.events = events;
  filter.event_is_in = NULL;
  filter.time_begin = fill->store->begin;
  filter.time_end = INT64_MAX;
  found = sysprof_samples_find (fill->store, fill->request->symbols, &filter, &n);
  for (uint32_t i = 0; i < n; i++)
    is_taken[found[i]] = 1;
  return is_taken;
}

/* Adds a value that lasted from `begin` to `end` to the figures of the selected time. */
static void
select_lasting (TrackFill *fill, TrackSeries *series, int64_t begin, int64_t end, double value)
{
  begin = MAX (begin, fill->query->selected_begin);
  end = MIN (end, fill->query->selected_end);
  if (begin < end)
    sysprof_track_select (fill, series, begin, value, (double) (end - begin));
}

/* Bytes that are allocated and not freed yet. Bins without events keep the last value. */
void
sysprof_fill_heap_tracks (TrackFill *fill, const TrackSource *source)
{
  const Store *store = fill->store;
  const FrameNo *frames = store->frames_of_type[FRAME_ALLOCATION].frame;
  Track *track = sysprof_track_fill_add (fill, source, source->title);
  TrackSeries *series = sysprof_track_add_series (fill, track, "In use");
  const uint32_t *freed = sysprof_heap_get_freed (store);
  g_autofree uint8_t *is_taken = find_taken (fill);
  uint32_t i = 0;
  int64_t last = 0;
  double in_use = 0;

  for (uint32_t bin = 0; bin < fill->query->n_bins && sysprof_is_wanted_at (bin); bin++)
    {
      series->least[bin] = 0;
      series->most[bin] = in_use;
      for (; freed != NULL && i < store->heap.n; i++)
        {
          int64_t offset =
              sysprof_request_offset (fill->request, store->frames.time[frames[i]]);
          uint32_t row = store->heap.allocation[i];

          if (offset > fill->query->end ||
              (offset >= fill->query->begin && sysprof_track_bin (fill, offset) > bin))
            break;
          select_lasting (fill, series, last, offset, in_use);
          last = offset;
          if (freed[i] != 0 && is_taken[freed[i] - 1])
            in_use -= (double) store->allocations.weight[freed[i] - 1];
          if (row != NO_ALLOCATION && is_taken[row])
            in_use += (double) store->allocations.weight[row];
          series->most[bin] =
              offset < fill->query->begin ? in_use : fmax (series->most[bin], in_use);
        }
    }
  select_lasting (fill, series, last, fill->query->end, in_use);
  track->activity = store->allocations.n;
  sysprof_track_measure (fill, track);
}
