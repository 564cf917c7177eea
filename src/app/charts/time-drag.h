// SPDX-License-Identifier: GPL-3.0-or-later

/* What the pointer does over charts of time: a hair line with the time, dragging selects a
 * span, dragging an edge of the selection moves it, Ctrl+scroll zooms at the pointer,
 * Shift+scroll pans. */

#pragma once

#include "app/charts/axis.h"
#include "app/charts/timeline-layers.h"

#include <gtk/gtk.h>

typedef struct
{
  Axis (*get_axis) (gpointer data); /* of the chart, right of the gutter */
  void (*get_selection) (gpointer data, int64_t *begin, int64_t *end);
  void (*select) (gpointer data, int64_t begin, int64_t end);
  void (*zoom) (gpointer data, double factor, int64_t at);
  void (*pan) (gpointer data, double widths);
  /* A press without a drag; NULL = others handle it. */
  void (*click) (gpointer data, double x, double y);
  /* What is under the pointer, for the bottom of the chart; NULL = nothing. *(full)* */
  char *(*dup_text) (gpointer data, double x, double y);
} TimeDragClass;

/* `widget` has a gutter of TIMELINE_GUTTER px at its left; `layer` lies over its rest. */
void app_time_drag_add (GtkWidget *widget,
                        AppSelectionLayer *layer,
                        const TimeDragClass *class,
                        gpointer data);
