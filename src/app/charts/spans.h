// SPDX-License-Identifier: GPL-3.0-or-later

/* AppSpans: a chart of spans: rows of bars on the selected time. A click selects the time of a
 * bar, a double click or Enter also zooms to it; arrow keys move a cursor. A selection that was
 * made here leaves the time axis as it is, so that the bars around it can be seen.
 *
 * Signal: "activated" (item), instead of zooming, if it has a handler. Actions of the widget:
 * chart.select, chart.zoom, chart.filter, chart.toggle, chart.process, chart.menu. */

#pragma once

#include "app/session/session.h"

#define APP_TYPE_SPANS (app_spans_get_type ())
G_DECLARE_FINAL_TYPE (AppSpans, app_spans, APP, SPANS, GtkWidget)

/* `name` of a chart (views/tracks/span-chart.h), static. `title` is the accessible name. */
GtkWidget *app_spans_new (AppSession *session, const char *name, const char *title);
