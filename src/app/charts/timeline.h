// SPDX-License-Identifier: GPL-3.0-or-later

/* AppTimeline: the time scrubber of all sections: a ruler and tracks over the visible time, the
 * selection, and the pointer's time. Dragging selects; a click on an event selects its time,
 * elsewhere all visible; Ctrl+scroll zooms at the pointer, Shift+scroll pans. */

#pragma once

#include "app/session/session.h"

#define APP_TYPE_TIMELINE (app_timeline_get_type ())
G_DECLARE_FINAL_TYPE (AppTimeline, app_timeline, APP, TIMELINE, GtkWidget)

GtkWidget *app_timeline_new (AppSession *session);
/* Names of tracks, NULL-terminated, static (views/tracks/tracks.h). */
void app_timeline_set_tracks (AppTimeline *self, const char *const *tracks);
