// SPDX-License-Identifier: GPL-3.0-or-later

/* AppSpansArea: what scrolls in a chart of spans: it draws the rows that are visible, so that
 * their number does not matter, and has the buttons of groups and the cursor as children.
 *
 * Signals: "toggled" (row of the chart): the button of a group. */

#pragma once

#include "app/charts/cursor.h"
#include "app/charts/span-picture.h"

#define APP_TYPE_SPANS_AREA (app_spans_area_get_type ())
G_DECLARE_FINAL_TYPE (AppSpansArea, app_spans_area, APP, SPANS_AREA, GtkWidget)

GtkWidget *app_spans_area_new (SpanPicture *picture);
/* After the picture got other rows. */
void app_spans_area_update (AppSpansArea *self);
/* Moves the cursor to a span in a row on the screen, and scrolls there. */
void app_spans_area_move (AppSpansArea *self, guint shown, uint32_t span, const char *text);
/* The cursor is at this span, without moving the focus; -1 = nowhere. */
void app_spans_area_set_cursor (AppSpansArea *self, int64_t shown, int64_t span);
