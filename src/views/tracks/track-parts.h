// SPDX-License-Identifier: GPL-3.0-or-later

/* Types and functions for the sources of tracks. */

#pragma once

#include "views/sample-rows.h"
#include "views/tracks/tracks.h"

typedef struct
{
  const TrackQuery *query;
  const ViewRequest *request;
  const Store *store;
  SampleFilter filter; /* of the request, with the time of the query */
  EventMatcher matcher;
  TrackSet *set;
  GArray *tracks; /* of Track */
} TrackFill;

typedef struct TrackSource
{
  const char *name;
  const char *title;
  const char *unit;
  TrackKind kind;
  void (*fill) (TrackFill *fill, const struct TrackSource *source);
  /* A sentence about an event. *(full)* */
  char *(*dup_text) (const Store *store, uint32_t item);
  /* Of counters: prefixes of their categories, separated by "|". */
  const char *categories;
  /* Of counters: prefixes of names of what goes out, which is drawn below 0. */
  const char *out;
  /* Of counters: prefixes of names of those that the track has; NULL = all of the machine. */
  const char *main;
} TrackSource;

/* Adds a track; the pointer is valid until the next one is added. */
Track *sysprof_track_fill_add (TrackFill *fill, const TrackSource *source, const char *title);
/* A title for people, in the arena: names in captures are any bytes. */
const char *sysprof_track_fill_title (TrackFill *fill, const char *title);
/* Gives the track a new series without values. Valid until the next one of the track is added.
 * */
TrackSeries *sysprof_track_add_series (TrackFill *fill, Track *track, const char *title);
/* Adds a value at `offset` to the figures of the selected time. */
void sysprof_track_select (const TrackFill *fill,
                           TrackSeries *series,
                           int64_t offset,
                           double value,
                           double weight);
/* Sets the scale from the bins of the series. */
void sysprof_track_measure (const TrackFill *fill, Track *track);
static inline uint32_t
sysprof_track_bin (const TrackFill *fill, int64_t offset)
{
  double share = (double) (offset - fill->query->begin) /
                 (double) MAX (fill->query->end - fill->query->begin, 1);

  return (uint32_t) MIN (share * fill->query->n_bins, fill->query->n_bins - 1);
}

/* Collects spans of one track; they may come in any order of lanes, by time within a lane. */
typedef struct
{
  TrackFill *fill;
  GArray *spans;   /* of TrackSpan */
  GArray *last_of; /* [lanes] 1 + index of the last span in the lane */
} SpanList;

void sysprof_span_list_init (SpanList *self, TrackFill *fill);
/* Adds an event at `offset`, and merges it with its neighbor if both are in one bin. */
void sysprof_span_list_add (SpanList *self, const TrackSpan *span);
/* Moves the spans into the track. */
void sysprof_span_list_finish (SpanList *self, Track *track);

void sysprof_fill_sample_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_category_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_thread_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_allocation_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_allocation_stack_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_heap_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_counter_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_mark_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_log_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_dbus_tracks (TrackFill *fill, const TrackSource *source);
void sysprof_fill_process_tracks (TrackFill *fill, const TrackSource *source);
char *sysprof_dup_mark_text (const Store *store, uint32_t item);
char *sysprof_dup_log_text (const Store *store, uint32_t item);
char *sysprof_dup_dbus_text (const Store *store, uint32_t item);
char *sysprof_dup_process_text (const Store *store, uint32_t item);
