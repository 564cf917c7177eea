// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows and bars on the screen. */

#include "app/charts/span-picture.h"

#include "app/charts/palette.h"

#include <math.h>

#define NEAR         4  /* px around the pointer in which a bar is hit */
#define LEAST        2  /* px of a bar */
#define TEXT_LEAST   36 /* px of a bar with a label */
#define TEXT_PAD     4
#define TEXT_TOP     2
#define MOST_LETTERS 300
#define EYE          28 /* px left of the title of a group */
#define FAINT_ALPHA  0.33f

typedef struct
{
  const SpanPicture *picture;
  GtkWidget *widget;
  GtkSnapshot *snapshot;
  Axis axis;
  GdkRGBA text_color;
  bool is_dark;
  GArray *bars; /* of TrackSpan */
} SpanDrawing;

void
app_span_picture_init (SpanPicture *self)
{
  self->hidden = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->shown = g_array_new (FALSE, FALSE, sizeof (ShownRow));
}

void
app_span_picture_clear (SpanPicture *self)
{
  g_clear_pointer (&self->chart, sysprof_span_chart_free);
  g_clear_pointer (&self->hidden, g_hash_table_unref);
  g_clear_pointer (&self->shown, g_array_unref);
}

/* The name of a heading or of a row, for the set of hidden ones. *(full)* */
static char *
dup_key (const SpanPicture *self, uint32_t row)
{
  g_autofree char *title = sysprof_span_chart_dup_title (self->chart, row);
  g_autofree char *group = NULL;

  if (self->chart->rows[row].n == 0)
    return g_steal_pointer (&title);
  for (uint32_t at = row; at > 0 && group == NULL; at--)
    if (self->chart->rows[at - 1].n == 0)
      group = sysprof_span_chart_dup_title (self->chart, at - 1);
  return g_strconcat (group != NULL ? group : "", "/", title, NULL);
}

bool
app_span_picture_is_hidden (const SpanPicture *self, uint32_t row)
{
  g_autofree char *key = NULL;

  if (g_hash_table_size (self->hidden) == 0)
    return false;
  key = dup_key (self, row);
  return g_hash_table_contains (self->hidden, key);
}

static void
show_rows (SpanPicture *self)
{
  bool is_group_hidden = false;

  g_array_set_size (self->shown, 0);
  for (uint32_t i = 0; i < self->chart->n_rows; i++)
    {
      bool is_heading = self->chart->rows[i].n == 0;
      ShownRow row = { i, app_span_picture_is_hidden (self, i) };

      if (is_heading)
        is_group_hidden = row.is_faint;
      if (is_heading || !is_group_hidden)
        g_array_append_val (self->shown, row);
    }
}

void
app_span_picture_take_chart (SpanPicture *self, SpanChart *chart)
{
  g_clear_pointer (&self->chart, sysprof_span_chart_free);
  self->chart = chart;
  show_rows (self);
}

void
app_span_picture_toggle (SpanPicture *self, uint32_t row)
{
  char *key = dup_key (self, row);

  if (g_hash_table_contains (self->hidden, key))
    {
      g_hash_table_remove (self->hidden, key);
      g_free (key);
    }
  else
    g_hash_table_add (self->hidden, key);
  show_rows (self);
}

Axis
app_span_picture_get_axis (const SpanPicture *self)
{
  return (Axis){ self->begin, MAX (self->end, self->begin + 1),
                 MAX (self->width - SPAN_GUTTER, 1) };
}

int64_t
app_span_picture_find_row (const SpanPicture *self, double y)
{
  double row = floor ((y + self->top) / SPAN_ROW_HEIGHT);

  return self->chart != NULL && row >= 0 && row < self->shown->len ? (int64_t) row : -1;
}

int64_t
app_span_picture_find (const SpanPicture *self, double x, double y)
{
  Axis axis = app_span_picture_get_axis (self);
  int64_t shown = app_span_picture_find_row (self, y);
  int64_t near = app_axis_get_time (&axis, NEAR) - axis.begin;
  const ShownRow *row;

  if (shown < 0 || x < SPAN_GUTTER)
    return -1;
  row = app_span_picture_get_row (self, (guint) shown);
  return row->is_faint && self->chart->rows[row->row].n == 0
             ? -1
             : sysprof_span_chart_find (self->chart, row->row,
                                        app_axis_get_time (&axis, x - SPAN_GUTTER), near);
}

/* Left and right edge of a bar in the plot. */
static void
place_bar (const Axis *axis, int64_t begin, int64_t end, int *x, int *right)
{
  *x = (int) floor (CLAMP (app_axis_get_x (axis, begin), 0, axis->width - LEAST));
  *right = (int) floor (CLAMP (app_axis_get_x (axis, end), 0, axis->width));
  *right = MAX (*right, *x + LEAST);
}

void
app_span_picture_place (const SpanPicture *self, guint shown, uint32_t span, GdkRectangle *area)
{
  Axis axis = app_span_picture_get_axis (self);
  int x, right;

  place_bar (&axis, self->chart->spans[span].begin, self->chart->spans[span].end, &x, &right);
  *area = (GdkRectangle){ SPAN_GUTTER + x, (int) (shown * SPAN_ROW_HEIGHT - self->top),
                          right - x, SPAN_ROW_HEIGHT - 1 };
}

/* --- drawing --- */

static void
fill (const SpanDrawing *self, const GdkRGBA *color, int x, int y, int width, int height)
{
  gtk_snapshot_append_color (
      self->snapshot, color,
      &GRAPHENE_RECT_INIT ((float) x, (float) y, (float) width, (float) height));
}

static PangoLayout *
make_layout (const SpanDrawing *self, const char *text)
{
  g_autofree char *cut =
      g_utf8_strlen (text, -1) > MOST_LETTERS ? g_utf8_substring (text, 0, MOST_LETTERS) : NULL;
  PangoLayout *layout = gtk_widget_create_pango_layout (self->widget, cut != NULL ? cut : text);

  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_layout_set_auto_dir (layout, FALSE); /* titles of all scripts begin at the left */
  return layout;
}

static void
draw_layout (const SpanDrawing *self,
             PangoLayout *layout,
             const GdkRGBA *color,
             int x,
             int y,
             int width)
{
  pango_layout_set_width (layout, width * PANGO_SCALE);
  gtk_snapshot_save (self->snapshot);
  gtk_snapshot_translate (self->snapshot,
                          &GRAPHENE_POINT_INIT ((float) x, (float) (y + TEXT_TOP)));
  gtk_snapshot_append_layout (self->snapshot, layout, color);
  gtk_snapshot_restore (self->snapshot);
}

static void
draw_title (const SpanDrawing *self, const ShownRow *row, int y)
{
  g_autofree char *title = sysprof_span_chart_dup_title (self->picture->chart, row->row);
  g_autoptr (PangoLayout) layout = make_layout (self, title);
  bool is_heading = self->picture->chart->rows[row->row].n == 0;
  GdkRGBA color = self->text_color;
  int x = is_heading ? EYE : 2 * TEXT_PAD;

  if (row->is_faint)
    color.alpha *= FAINT_ALPHA;
  if (is_heading)
    {
      g_autoptr (PangoAttrList) bold = pango_attr_list_new ();

      pango_attr_list_insert (bold, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
      pango_layout_set_attributes (layout, bold);
    }
  draw_layout (self, layout, &color, x, y,
               (is_heading ? self->picture->width : SPAN_GUTTER) - x - TEXT_PAD);
}

/* In the bar if it fits, else right of it, else left of it. */
static void
draw_label_beside (const SpanDrawing *self, const char *label, int x, int right, int y)
{
  g_autoptr (PangoLayout) layout = make_layout (self, label);
  GdkRGBA inside = self->is_dark ? (GdkRGBA){ 1, 1, 1, 1 } : (GdkRGBA){ 0, 0, 0, 1 };
  int width, needed;

  pango_layout_get_pixel_size (layout, &width, NULL);
  needed = width + 2 * TEXT_PAD;
  if (needed <= right - x)
    draw_layout (self, layout, &inside, SPAN_GUTTER + x + TEXT_PAD, y, width + 1);
  else if (needed > self->axis.width - right && needed <= x)
    draw_layout (self, layout, &self->text_color, SPAN_GUTTER + x - width - TEXT_PAD, y,
                 width + 1);
  else if (self->axis.width - right >= MIN (needed, 3 * TEXT_LEAST))
    draw_layout (self, layout, &self->text_color, SPAN_GUTTER + right + TEXT_PAD, y,
                 MIN (width + 1, self->axis.width - right - 2 * TEXT_PAD));
  else if (right - x >= TEXT_LEAST)
    draw_layout (self, layout, &inside, SPAN_GUTTER + x + TEXT_PAD, y,
                 right - x - 2 * TEXT_PAD);
}

static void
draw_label_inside (const SpanDrawing *self, const char *label, int x, int right, int y)
{
  GdkRGBA color = self->is_dark ? (GdkRGBA){ 1, 1, 1, 1 } : (GdkRGBA){ 0, 0, 0, 1 };
  g_autoptr (PangoLayout) layout = make_layout (self, label);

  draw_layout (self, layout, &color, SPAN_GUTTER + x + TEXT_PAD, y, right - x - 2 * TEXT_PAD);
}

static void
draw_bars (const SpanDrawing *self, const ShownRow *row, int y)
{
  const SpanChart *chart = self->picture->chart;
  bool is_alone = sysprof_span_chart_has_row_per_span (chart);

  g_array_set_size (self->bars, 0);
  sysprof_span_chart_cut (chart, row->row, self->axis.begin, self->axis.end,
                          (uint32_t) self->axis.width, self->bars);
  for (guint i = 0; i < self->bars->len; i++)
    {
      const TrackSpan *bar = &g_array_index (self->bars, TrackSpan, i);
      g_autofree char *label = NULL;
      int x, right;
      GdkRGBA color;

      place_bar (&self->axis, bar->begin, bar->end, &x, &right);
      if (is_alone || (right - x >= TEXT_LEAST && !row->is_faint))
        label = sysprof_span_chart_dup_label (chart, bar->item);
      app_palette_get_span (sysprof_span_chart_get_name (chart, bar->item), self->is_dark,
                            &color);
      if (row->is_faint)
        color.alpha = FAINT_ALPHA;
      fill (self, &color, SPAN_GUTTER + x, y + 1, MAX (right - x - (right - x > 3 ? 1 : 0), 1),
            SPAN_ROW_HEIGHT - 3);
      if (is_alone)
        draw_label_beside (self, label, x, right, y);
      else if (label != NULL)
        draw_label_inside (self, label, x, right - 1, y);
    }
}

void
app_span_picture_draw (const SpanPicture *self, GtkWidget *widget, GtkSnapshot *snapshot)
{
  SpanDrawing drawing = { self, widget, snapshot, app_span_picture_get_axis (self),
                          .is_dark = app_palette_is_dark () };
  guint first = (guint) (self->top / SPAN_ROW_HEIGHT);
  GdkRGBA line;

  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &drawing.text_color);
  line = drawing.text_color;
  line.alpha *= 0.08f;
  drawing.bars = g_array_new (FALSE, FALSE, sizeof (TrackSpan));
  for (guint i = first; i < self->shown->len; i++)
    {
      const ShownRow *row = app_span_picture_get_row (self, i);
      int y = (int) (i * SPAN_ROW_HEIGHT - self->top);

      if (y >= self->height)
        break;
      fill (&drawing, &line, 0, y + SPAN_ROW_HEIGHT - 1, self->width, 1);
      if (self->chart->rows[row->row].n == 0)
        fill (&drawing, &line, 0, y, self->width, SPAN_ROW_HEIGHT - 1);
      else
        draw_bars (&drawing, row, y);
      draw_title (&drawing, row, y);
    }
  g_array_unref (drawing.bars);
}
