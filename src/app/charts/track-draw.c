// SPDX-License-Identifier: GPL-3.0-or-later

/* Draws tracks with rectangles on whole pixels, at most one per pixel of the width. */

#include "app/charts/palette.h"
#include "app/charts/track.h"

#include <math.h>

#define SPAN_GAP    1
#define OTHER_ALPHA 0.25
#define TICK_ALPHA  0.9
#define BELOW_ALPHA 0.14 /* below lines, if there are few */
#define MOST_FILLED 2

typedef struct
{
  const TrackSet *set;
  const Track *track;
  const Axis *axis;
  int height;
  bool is_dark;
  GtkSnapshot *snapshot;
} Drawing;

static void
fill (const Drawing *self, const GdkRGBA *color, int x, int y, int width, int height)
{
  if (x < 0)
    {
      width += x;
      x = 0;
    }
  width = MIN (width, self->axis->width - x);
  if (width > 0 && height > 0)
    gtk_snapshot_append_color (self->snapshot, color,
                               &GRAPHENE_RECT_INIT (x, y, width, height));
}

static int
x_of_bin (const Drawing *self, uint32_t bin)
{
  double width = (double) (self->set->end - self->set->begin);
  int64_t time = self->set->begin + (int64_t) (width * bin / self->set->n_bins);
  double x = app_axis_get_x (self->axis, time);

  return (int) floor (CLAMP (x, -1e6, 1e6));
}

/* Height for values: spans of the track are in a strip below. */
static int
get_value_height (const Drawing *self)
{
  return self->track->kind == TRACK_AREA && self->track->n_spans > 0
             ? self->height - TRACK_STRIP_HEIGHT
             : self->height;
}

static int
y_of (const Drawing *self, double value)
{
  double share = (value - self->track->min) / (self->track->max - self->track->min);

  return (int) lround ((1 - CLAMP (share, 0, 1)) * (get_value_height (self) - 1));
}

static void
color_of_series (const Drawing *self, uint32_t i, GdkRGBA *color)
{
  const char *title = self->track->series[i].title;

  if (self->track->kind == TRACK_LINE)
    app_palette_get_series (i, self->is_dark, color);
  else
    app_palette_get_area (self->track->n_series > 1 ? title : NULL, i, self->is_dark, color);
}

static void
draw_strip (const Drawing *self)
{
  int y = self->height - TRACK_STRIP_HEIGHT + 1;

  for (uint32_t i = 0; i < self->track->n_spans; i++)
    {
      const TrackSpan *span = &self->track->spans[i];
      double begin = app_axis_get_x (self->axis, span->begin);
      double end = app_axis_get_x (self->axis, span->end);
      int x = (int) floor (CLAMP (begin, -1, self->axis->width));
      int right = (int) floor (CLAMP (end, -1, self->axis->width + 1));
      GdkRGBA color;

      if (end < 0 || begin > self->axis->width)
        continue;
      app_palette_get_wait (span->color, self->is_dark, &color);
      fill (self, &color, x, y, MAX (right - x, 1), TRACK_STRIP_HEIGHT - 2);
    }
}

/* Bins of equal heights side by side become one rectangle. */
static void
draw_area (const Drawing *self)
{
  draw_strip (self);
  for (uint32_t i = 0; i < self->track->n_series; i++)
    {
      const TrackSeries *series = &self->track->series[i];
      int run_x = 0, run_top = 0, run_bottom = 0;
      GdkRGBA color;

      color_of_series (self, i, &color);
      for (uint32_t bin = 0; bin <= self->set->n_bins; bin++)
        {
          bool has = bin < self->set->n_bins && isfinite (series->most[bin]);
          int top = has ? y_of (self, series->most[bin]) : 0;
          int bottom = has ? y_of (self, series->least[bin]) : 0;

          if (top == run_top && bottom == run_bottom)
            continue;
          fill (self, &color, run_x, run_top, MAX (x_of_bin (self, bin) - run_x, 1),
                run_bottom - run_top);
          run_x = x_of_bin (self, bin);
          run_top = top;
          run_bottom = bottom;
        }
    }
}

static void
fill_below (const Drawing *self, GdkRGBA color, int x, int y, int width)
{
  int base = self->track->is_mirrored ? y_of (self, 0) : self->height - 1;

  color.alpha = (float) BELOW_ALPHA;
  fill (self, &color, x, MIN (y, base), width, abs (base - y));
}

/* From the least to the greatest value of each bin, and level where a bin has none. Bins may be
 * wider than a pixel. */
static void
draw_line (const Drawing *self)
{
  for (uint32_t i = 0; i < self->track->n_series; i++)
    {
      const TrackSeries *series = &self->track->series[i];
      int last_x = -1, last_y = 0;
      GdkRGBA color;

      color_of_series (self, i, &color);
      for (uint32_t bin = 0; bin < self->set->n_bins; bin++)
        {
          int x, top, bottom;

          if (!isfinite (series->most[bin]))
            continue;
          x = x_of_bin (self, bin);
          top = y_of (self, series->most[bin]);
          bottom = y_of (self, series->least[bin]);
          fill (self, &color, x, top, MAX (x_of_bin (self, bin + 1) - x, 1), bottom - top + 1);
          if (last_x >= 0)
            {
              fill (self, &color, last_x, last_y, x - last_x + 1, 1);
              if (self->track->n_series <= MOST_FILLED)
                fill_below (self, color, last_x, last_y, x - last_x);
              top = MIN (top, last_y);
              bottom = MAX (bottom, last_y);
              fill (self, &color, x, top, 1, bottom - top + 1);
            }
          last_x = x;
          last_y = y_of (self, series->most[bin]);
        }
    }
}

static void
draw_spans (const Drawing *self)
{
  const Track *track = self->track;
  int lane_height = MAX (self->height / (int) track->n_lanes, 2);

  for (uint32_t i = 0; i < track->n_spans; i++)
    {
      const TrackSpan *span = &track->spans[i];
      double begin = app_axis_get_x (self->axis, span->begin);
      double end = app_axis_get_x (self->axis, span->end);
      int x = (int) floor (CLAMP (begin, -1, self->axis->width));
      int right = (int) floor (CLAMP (end, -1, self->axis->width + 1));
      GdkRGBA color;

      if (end < 0 || begin > self->axis->width)
        continue;
      app_palette_get_area (NULL, span->color, self->is_dark, &color);
      fill (self, &color, x, (int) span->lane * lane_height, MAX (right - x, 1),
            MAX (lane_height - SPAN_GAP, 1));
    }
}

static void
draw_ticks (const Drawing *self)
{
  for (uint32_t i = 0; i < self->track->n_spans; i++)
    {
      const TrackSpan *span = &self->track->spans[i];
      double x = app_axis_get_x (self->axis, span->begin);
      GdkRGBA color;

      if (x < 0 || x >= self->axis->width)
        continue;
      app_palette_get_area (NULL, span->color, self->is_dark, &color);
      color.alpha = (float) TICK_ALPHA;
      fill (self, &color, (int) x, 2, 1, self->height - 4);
    }
}

void
app_track_draw (const TrackSet *set,
                const Track *track,
                const Axis *axis,
                int height,
                const GdkRGBA *text_color,
                GtkSnapshot *snapshot)
{
  static void (*const draw[]) (const Drawing *) = {
    [TRACK_AREA] = draw_area,
    [TRACK_LINE] = draw_line,
    [TRACK_SPANS] = draw_spans,
    [TRACK_TICKS] = draw_ticks,
  };
  Drawing self = { set, track, axis, height, app_palette_is_dark (), snapshot };
  GdkRGBA base = *text_color;

  base.alpha = (float) OTHER_ALPHA;
  fill (&self, &base, 0, track->is_mirrored ? y_of (&self, 0) : height - 1, axis->width, 1);
  draw[track->kind](&self);
}
