// SPDX-License-Identifier: GPL-3.0-or-later

/* The parts of the timeline that are drawn apart from the tracks: the ruler above them, and the
 * layer of selection and pointer over them, which moves without drawing the tracks again. */

#pragma once

#include "app/session/session.h"

#define TIMELINE_GUTTER 150 /* px left of the tracks, for their titles */

/* Time runs from left to right in all languages, and titles are left of it. */
void app_set_time_direction (GtkWidget *widget);

#define APP_TYPE_RULER (app_ruler_get_type ())
G_DECLARE_FINAL_TYPE (AppRuler, app_ruler, APP, RULER, GtkWidget)
GtkWidget *app_ruler_new (void);
void app_ruler_set_time (AppRuler *self, int64_t begin, int64_t end);

#define APP_TYPE_SELECTION_LAYER (app_selection_layer_get_type ())
G_DECLARE_FINAL_TYPE (AppSelectionLayer, app_selection_layer, APP, SELECTION_LAYER, GtkWidget)
GtkWidget *app_selection_layer_new (void);
void app_selection_layer_set_time (AppSelectionLayer *self, int64_t begin, int64_t end);
/* The shaded rest is outside of [begin, end). */
void app_selection_layer_set_selection (AppSelectionLayer *self, int64_t begin, int64_t end);
/* A hair line at `x` in the plot, with a description of the event there; negative: none. */
void app_selection_layer_set_pointer (AppSelectionLayer *self, double x, const char *text);
