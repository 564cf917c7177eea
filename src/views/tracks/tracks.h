// SPDX-License-Identifier: GPL-3.0-or-later

/* Tracks: what charts over time show, reduced to the resolution of the screen.
 *
 *   TrackQuery query = { .names = names, .begin = 0, .end = duration, .n_bins = 1000 };
 *   TrackSet *set = sysprof_tracks_new (&query, &request);
 *
 * A track has either series of values, one value per bin, or spans: at most one per bin and
 * lane, because spans of one bin are merged. All times are ns since the start of
 * the recording. The selection of the request applies, except its time: a track shows the time
 * of the query. To add a track, add a row to `sources` in tracks.c. */

#pragma once

#include "views/views.h"

typedef enum
{
  TRACK_AREA,  /* values, filled from 0; spans, if any, in a strip below them */
  TRACK_LINE,  /* values, as lines from least to greatest of each bin */
  TRACK_SPANS, /* spans in lanes */
  TRACK_TICKS, /* instants */
} TrackKind;

typedef struct
{
  const char *title;
  double *least; /* [n_bins] NaN = no value */
  double *most;  /* [n_bins] */
  struct
  {
    double last, min, max, sum; /* the mean is sum / weight */
    double weight;              /* 0 = no values, or bins are sums: shares, allocated bytes */
  } selected;                   /* values in the selected time */
} TrackSeries;

typedef struct
{
  int64_t begin;
  int64_t end;   /* equal to `begin` for an instant */
  uint32_t item; /* the longest of the merged events: index in its column of the store */
  uint32_t n;    /* number of merged events */
  uint32_t lane;
  uint32_t color; /* equal for equal names */
} TrackSpan;

typedef struct
{
  const struct TrackSource *source;
  const char *name; /* of the source */
  TrackKind kind;
  const char *title;
  const char *unit;                /* "" = none */
  bool is_mirrored;                /* what goes out is negative */
  const char *group, *description; /* of a single counter */
  bool is_constant;                /* a single counter that has one value in the recording */
  double min, max;                 /* scale of values; max > min */
  TrackSeries *series;             /* [n_series] */
  uint32_t n_series;
  TrackSpan *spans; /* [n_spans] by lane, then by time */
  uint32_t n_spans;
  uint32_t n_lanes;
  uint64_t activity; /* number of events in the shown time, for the order of tracks */
} Track;

/* *Owned*, frozen after it was made. */
typedef struct
{
  int64_t begin, end; /* shown time */
  uint32_t n_bins;
  Track *tracks; /* [n] */
  uint32_t n;
  uint32_t n_left_out; /* single counters beyond the limit */
  Arena arena;
} TrackSet;

typedef struct
{
  const char *const *names; /* NULL-terminated */
  int64_t begin, end;
  uint32_t n_bins;
  bool splits;                          /* one track for each counter */
  int64_t selected_begin, selected_end; /* of the figures of series; may be 0 */
} TrackQuery;

/* NULL if canceled. *(full)* */
TrackSet *sysprof_tracks_new (const TrackQuery *query, const ViewRequest *request);
void sysprof_tracks_free (TrackSet *self);

/* A sentence about an event, for people. *(full)* */
char *sysprof_track_dup_text (const Track *self, const Store *store, uint32_t item);

/* Whether the counter belongs to the track "counters:…" of that name. */
bool sysprof_counter_is_in_track (const char *track, const char *category);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrackSet, sysprof_tracks_free)

#include "views/tracks/span-chart.h"
