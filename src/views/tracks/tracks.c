// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of tracks, and what all of them share. */

#include "views/tracks/track-parts.h"

#include <string.h>

#define OTHER_COUNTERS "counters:other"

/* clang-format off */
static const TrackSource sources[] = {
  { "samples", "Stack traces", "functions", TRACK_AREA, sysprof_fill_sample_tracks },
  { "categories", "CPU by category", "%", TRACK_AREA, sysprof_fill_category_tracks },
  { "threads", "", "%", TRACK_AREA, sysprof_fill_thread_tracks, sysprof_dup_wait_text },
  { "allocations", "Allocated", "bytes", TRACK_AREA, sysprof_fill_allocation_tracks },
  { "heap", "Memory in use", "bytes", TRACK_AREA, sysprof_fill_heap_tracks },
  { "allocation-stacks", "Stack traces", "functions", TRACK_AREA,
    sysprof_fill_allocation_stack_tracks },
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
  { "counters:battery", "Battery charge", "uAh", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "Battery Charge" },
  { "counters:graphics", "Graphics", "", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "gtk|mutter|gio|webkit|GPU" },
  { "counters:memory", "Memory", "bytes", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "Memory", NULL, "Used|Cached" },
  { "counters:network", "Network", "bytes/s", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "Network", "TX" },
  { "counters:storage", "Storage", "bytes/s", TRACK_LINE, sysprof_fill_counter_tracks, NULL,
    "Disk", "Bytes Written|Total Writes" },
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
