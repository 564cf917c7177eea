// SPDX-License-Identifier: GPL-3.0-or-later

/* Where the rows and bars of a chart of spans lie on the screen, and what is drawn of them. */

#pragma once

#include "app/charts/axis.h"
#include "app/charts/timeline-layers.h"
#include "views/tracks/tracks.h"

#define SPAN_ROW_HEIGHT 22 /* px */
#define SPAN_GUTTER     TIMELINE_GUTTER

/* A row on the screen: rows of hidden groups are left out. */
typedef struct
{
  uint32_t row;
  bool is_faint; /* its marks were toggled off */
} ShownRow;

typedef struct
{
  SpanChart *chart;   /* NULL before the first one */
  int64_t begin, end; /* time axis */
  GHashTable *hidden; /* groups, and rows as "group/name" */
  GArray *shown;      /* of ShownRow */
  int width, height;  /* px on the screen */
  double top;         /* px scrolled */
} SpanPicture;

void app_span_picture_init (SpanPicture *self);
void app_span_picture_clear (SpanPicture *self);
void app_span_picture_take_chart (SpanPicture *self, SpanChart *chart);
/* Shows or hides a group, or the bars of a row. */
void app_span_picture_toggle (SpanPicture *self, uint32_t row);
bool app_span_picture_is_hidden (const SpanPicture *self, uint32_t row);
static inline const ShownRow *
app_span_picture_get_row (const SpanPicture *self, guint shown)
{
  return &g_array_index (self->shown, ShownRow, shown);
}
Axis app_span_picture_get_axis (const SpanPicture *self);
/* The row on the screen at a height; -1 = none. */
int64_t app_span_picture_find_row (const SpanPicture *self, double y);
/* The span at a position; -1 = none. */
int64_t app_span_picture_find (const SpanPicture *self, double x, double y);
/* px of a span in a row on the screen. */
void app_span_picture_place (const SpanPicture *self,
                             guint shown,
                             uint32_t span,
                             GdkRectangle *area);
void app_span_picture_draw (const SpanPicture *self, GtkWidget *widget, GtkSnapshot *snapshot);
