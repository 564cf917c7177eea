// SPDX-License-Identifier: GPL-3.0-or-later

/* AppTrack: one track of the timeline. It draws a track of a set, reduced to pixels by the
 * views, and keeps its picture until data, time or size change. Arrow keys move a cursor over
 * its items, Enter zooms to the item.
 *
 * To add a way of drawing, add a TrackKind in views/tracks/tracks.h and its function to the
 * table in track-draw.c. */

#pragma once

#include "app/charts/axis.h"
#include "app/session/query.h"
#include "views/tracks/tracks.h"

#define TRACK_STRIP_HEIGHT 7 /* px of the spans below the values of an area */

extern const QueryKind app_track_query_kind; /* input: TrackQuery *, result: TrackSet * */

/* The set is shared by its tracks. */
typedef struct
{
  grefcount n_references;
  TrackSet *set;
} SharedTracks;

SharedTracks *app_shared_tracks_new (TrackSet *set);
SharedTracks *app_shared_tracks_ref (SharedTracks *self);
void app_shared_tracks_unref (SharedTracks *self);

#define APP_TYPE_TRACK (app_track_get_type ())
G_DECLARE_FINAL_TYPE (AppTrack, app_track, APP, TRACK, GtkWidget)

GtkWidget *app_track_new (AppSession *session);
void app_track_set_data (AppTrack *self, SharedTracks *tracks, uint32_t index);
void app_track_set_visible_time (AppTrack *self, int64_t begin, int64_t end);
const Track *app_track_get_track (AppTrack *self);
/* Whether values have a unit of their own, such as kB or MB. */
bool app_track_has_prefix (const Track *track);
/* "12.3 MB/s". *(full)* */
char *app_track_dup_value (const Track *track, double value);
/* A sentence about what is at a position; NULL if nothing is. *(full)* */
char *app_track_dup_text_at (AppTrack *self, double x, double y);
/* The event at a position, if there is one. */
bool app_track_find_span_at (AppTrack *self, double x, double y, int64_t *begin, int64_t *end);

/* Of track-draw.c: draws a track into the size of the axis. */
void app_track_draw (const TrackSet *set,
                     const Track *track,
                     const Axis *axis,
                     int height,
                     const GdkRGBA *text_color,
                     GtkSnapshot *snapshot);
