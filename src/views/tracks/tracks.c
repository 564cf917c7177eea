// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of tracks, and what all of them share. */

#include "views/tracks/track-parts.h"

#include <math.h>
#include <string.h>

#define OTHER_COUNTERS "counters:other"

/* clang-format off */
static const TrackSource sources[] = {
  { "samples", "Stack traces", "functions", TRACK_AREA, sysprof_fill_sample_tracks },
  { "categories", "CPU by category", "%", TRACK_AREA, sysprof_fill_category_tracks },
  { "threads", "", "%", TRACK_AREA, sysprof_fill_thread_tracks, sysprof_dup_wait_text },
  { "allocations", "Allocated", "bytes", TRACK_AREA, sysprof_fill_allocation_tracks },
  { "marks", "Marks", "", TRACK_SPANS, sysprof_fill_mark_tracks, sysprof_dup_mark_text },
  { "logs", "Logs", "", TRACK_TICKS, sysprof_fill_log_tracks, sysprof_dup_log_text },
  { "dbus", "D-Bus", "", TRACK_TICKS, sysprof_fill_dbus_tracks, sysprof_dup_dbus_text },
  { "processes", "Processes", "", TRACK_SPANS, sysprof_fill_process_tracks,
    sysprof_dup_process_text },
  { "counters:cpu", "CPU usage", "%", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "CPU Percent" },
  { "counters:frequency", "CPU frequency", "%", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "CPU Frequency" },
  { "counters:energy", "Power", "W", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "RAPL|Battery Power" },
  { "counters:battery", "Battery charge", "µAh", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "Battery Charge" },
  { "counters:graphics", "Graphics", "", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "gtk|mutter|gio|webkit|GPU" },
  { "counters:memory", "Memory", "bytes", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "Memory" },
  { "counters:network", "Network", "bytes", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "Network" },
  { "counters:storage", "Storage", "", TRACK_LINE, sysprof_fill_counter_tracks, NULL, "Disk" },
  { "counters:pressure", "Pressure", "%", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "Pressure" },
  { OTHER_COUNTERS, "Other counters", "", TRACK_LINE, sysprof_fill_counter_tracks, NULL, "" },
};
/* clang-format on */

static const TrackSource *
find_source (const char *name)
{
  for (size_t i = 0; i < G_N_ELEMENTS (sources); i++)
    if (strcmp (sources[i].name, name) == 0)
      return &sources[i];
  return NULL;
}

static bool
has_prefix_of (const char *category, const char *prefixes)
{
  g_auto (GStrv) list = g_strsplit (prefixes, "|", -1);

  for (size_t i = 0; list[i] != NULL; i++)
    if (list[i][0] != '\0' && g_str_has_prefix (category, list[i]))
      return true;
  return false;
}

bool
sysprof_counter_is_in_track (const char *track, const char *category)
{
  if (strcmp (track, OTHER_COUNTERS) != 0)
    return has_prefix_of (category, find_source (track)->categories);
  for (size_t i = 0; i < G_N_ELEMENTS (sources); i++)
    if (sources[i].categories != NULL && has_prefix_of (category, sources[i].categories))
      return false;
  return true;
}

Track *
sysprof_track_fill_add (TrackFill *fill, const TrackSource *source, const char *title)
{
  Track track = {
    .source = source,
    .kind = source->kind,
    .title = sysprof_arena_strndup (&fill->set->arena, title, strlen (title)),
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
    .title = sysprof_arena_strndup (arena, title, strlen (title)),
    .least = sysprof_arena_alloc (arena, n_bins * sizeof (double)),
    .most = sysprof_arena_alloc (arena, n_bins * sizeof (double)),
    .min = NAN,
    .mean = NAN,
    .max = NAN,
  };
  for (uint32_t i = 0; i < n_bins; i++)
    series[n].least[i] = series[n].most[i] = NAN;
  track->series = series;
  track->n_series++;
  return &series[n];
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

TrackSet *
sysprof_tracks_new (const TrackQuery *query, const ViewRequest *request)
{
  g_autoptr (TrackSet) set = g_new0 (TrackSet, 1);
  TrackFill fill = { .query = query, .request = request, .store = request->store, .set = set };
  bool is_wanted;

  *set = (TrackSet){ .begin = query->begin, .end = query->end, .n_bins = query->n_bins };
  if (request->filter != NULL)
    fill.filter = *request->filter;
  fill.filter.times = NULL;
  fill.filter.n_times = 0;
  fill.filter.time_begin = request->store->begin + query->begin;
  fill.filter.time_end = request->store->begin + query->end + 1;
  fill.tracks = g_array_new (FALSE, FALSE, sizeof (Track));

  sysprof_request_begin (request);
  sysprof_event_matcher_init (&fill.matcher, fill.store, &fill.filter);
  for (size_t i = 0; query->names != NULL && query->names[i] != NULL; i++)
    {
      const TrackSource *source = find_source (query->names[i]);

      source->fill (&fill, source);
    }
  sysprof_event_matcher_clear (&fill.matcher);
  is_wanted = sysprof_is_wanted ();
  sysprof_request_end (request);

  set->n = fill.tracks->len;
  set->tracks = (Track *) g_array_free (fill.tracks, FALSE);
  return is_wanted ? g_steal_pointer (&set) : NULL;
}

void
sysprof_tracks_free (TrackSet *self)
{
  g_free (self->tracks);
  sysprof_arena_clear (&self->arena);
  g_free (self);
}

char *
sysprof_track_dup_text (const Track *self, const Store *store, uint32_t item)
{
  return self->source->dup_text (store, item);
}
