// SPDX-License-Identifier: GPL-3.0-or-later

/* The title left of a track of the timeline: its name, scale and unit, the legend of its
 * series, and their figures as a tooltip. */

#pragma once

#include "views/tracks/tracks.h"

#include <gtk/gtk.h>

GtkWidget *app_track_title_new (const Track *track);
