// SPDX-License-Identifier: GPL-3.0-or-later

/* The title left of a track of the timeline: its name, scale and unit, the legend of its
 * series, and their figures in the selected time as a tooltip. */

#pragma once

#include "app/session/session.h"
#include "views/tracks/tracks.h"

GtkWidget *app_track_title_new (AppSession *session, const Track *track);
