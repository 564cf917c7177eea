// SPDX-License-Identifier: GPL-3.0-or-later

/* Adds tracks, series and spans to a set, for the sources of tracks. */

#include "text/text.h"
#include "views/tracks/track-parts.h"

#include <math.h>
#include <string.h>

#define PERCENT  100.0
#define ROUNDING 0.01

const char *
sysprof_track_fill_title (TrackFill *fill, const char *title)
{
  g_autofree char *line = sysprof_dup_one_line (title);

  return sysprof_arena_strndup (&fill->set->arena, line, strlen (line));
}

Track *
sysprof_track_fill_add (TrackFill *fill, const TrackSource *source, const char *title)
{
  Track track = {
    .source = source,
    .name = source->name,
    .kind = source->kind,
    .title = sysprof_track_fill_title (fill, title),
    .unit = source->unit,
    .max = 1,
    .n_lanes = 1,
  };

  g_array_append_val (fill->tracks, track);
  return &g_array_index (fill->tracks, Track, fill->tracks->len - 1);
}

TrackSeries *
sysprof_track_add_series (TrackFill *fill, Track *track, const char *title)
{
  Arena *arena = &fill->set->arena;
  uint32_t n_bins = fill->query->n_bins, n = track->n_series;
  TrackSeries *series = sysprof_arena_alloc (arena, (n + 1) * sizeof *series);

  if (n > 0)
    memcpy (series, track->series, n * sizeof *series);
  series[n] = (TrackSeries){
    .title = sysprof_track_fill_title (fill, title),
    .least = sysprof_arena_alloc (arena, n_bins * sizeof (double)),
    .most = sysprof_arena_alloc (arena, n_bins * sizeof (double)),
    .selected = { .min = NAN, .max = NAN },
  };
  for (uint32_t i = 0; i < n_bins; i++)
    series[n].least[i] = series[n].most[i] = NAN;
  track->series = series;
  track->n_series++;
  return &series[n];
}

void
sysprof_track_select (const TrackFill *fill,
                      TrackSeries *series,
                      int64_t offset,
                      double value,
                      double weight)
{
  if (offset < fill->query->selected_begin || offset > fill->query->selected_end)
    return;
  series->selected.last = value;
  series->selected.min = fmin (series->selected.min, value);
  series->selected.max = fmax (series->selected.max, value);
  series->selected.sum += value * weight;
  series->selected.weight += weight;
}

void
sysprof_span_list_init (SpanList *self, TrackFill *fill)
{
  *self = (SpanList){
    .fill = fill,
    .spans = g_array_new (FALSE, FALSE, sizeof (TrackSpan)),
    .last_of = g_array_new (FALSE, TRUE, sizeof (uint32_t)),
  };
}

void
sysprof_span_list_add (SpanList *self, const TrackSpan *span)
{
  TrackFill *fill = self->fill;
  TrackSpan *last;
  uint32_t at;

  if (span->lane >= self->last_of->len)
    g_array_set_size (self->last_of, span->lane + 1);
  at = g_array_index (self->last_of, uint32_t, span->lane);
  last = at > 0 ? &g_array_index (self->spans, TrackSpan, at - 1) : NULL;
  if (last != NULL && sysprof_track_bin (fill, MAX (last->begin, fill->query->begin)) ==
                          sysprof_track_bin (fill, MAX (span->end, fill->query->begin)))
    {
      if (span->end - span->begin > last->end - last->begin)
        last->item = span->item;
      last->begin = MIN (last->begin, span->begin);
      last->end = MAX (last->end, span->end);
      last->n++;
      return;
    }

  g_array_append_val (self->spans, *span);
  g_array_index (self->last_of, uint32_t, span->lane) = self->spans->len;
}

static int
compare_spans (gconstpointer left, gconstpointer right)
{
  const TrackSpan *a = left, *b = right;

  if (a->lane != b->lane)
    return a->lane < b->lane ? -1 : 1;
  return (a->begin > b->begin) - (a->begin < b->begin);
}

void
sysprof_span_list_finish (SpanList *self, Track *track)
{
  size_t size = self->spans->len * sizeof (TrackSpan);

  g_array_sort (self->spans, compare_spans);
  track->spans = sysprof_arena_alloc (&self->fill->set->arena, MAX (size, 1));
  if (size > 0)
    memcpy (track->spans, self->spans->data, size);
  track->n_spans = self->spans->len;
  track->n_lanes = MAX (self->last_of->len, 1);
  for (guint i = 0; i < self->spans->len; i++)
    track->activity += g_array_index (self->spans, TrackSpan, i).n;
  g_array_unref (self->spans);
  g_array_unref (self->last_of);
}

void
sysprof_track_measure (const TrackFill *fill, Track *track)
{
  for (uint32_t i = 0; i < track->n_series; i++)
    {
      const TrackSeries *series = &track->series[i];
      double min = NAN, max = NAN;

      for (uint32_t bin = 0; bin < fill->query->n_bins; bin++)
        if (isfinite (series->most[bin]))
          {
            min = fmin (min, series->least[bin]);
            max = fmax (max, series->most[bin]);
          }
      if (isfinite (max))
        {
          track->max = i == 0 ? max : fmax (track->max, max);
          track->min = fmin (track->min, min);
        }
    }
  /* Sums of shares may exceed 100 % by rounding. */
  if (strcmp (track->unit, "%") == 0 && !(track->max > PERCENT + ROUNDING))
    track->max = PERCENT;
  if (track->max <= track->min)
    track->max = track->min + 1;
}
