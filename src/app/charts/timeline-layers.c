// SPDX-License-Identifier: GPL-3.0-or-later

/* Ruler and selection of the timeline. */

#include "app/charts/timeline-layers.h"

#include "app/charts/axis.h"
#include "app/charts/palette.h"

#include <math.h>

#define RULER_HEIGHT 22 /* px */
#define TICK_LEAST   90
#define TICK_HEIGHT  6
#define SHADE_ALPHA  0.5
#define LABEL_PAD    5

struct _AppRuler
{
  GtkWidget parent_instance;
  int64_t begin, end;
};

struct _AppSelectionLayer
{
  GtkWidget parent_instance;
  int64_t begin, end;
  int64_t selected_begin, selected_end;
  double pointer; /* px in the plot; negative = none */
  char *text;
};

G_DEFINE_FINAL_TYPE (AppRuler, app_ruler, GTK_TYPE_WIDGET)
G_DEFINE_FINAL_TYPE (AppSelectionLayer, app_selection_layer, GTK_TYPE_WIDGET)

void
app_set_time_direction (GtkWidget *widget)
{
  gtk_widget_set_direction (widget, GTK_TEXT_DIR_LTR);
}

static void
draw_text (GtkWidget *widget,
           GtkSnapshot *snapshot,
           const char *text,
           double x,
           double y,
           const GdkRGBA *color)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, text);

  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot,
                          &GRAPHENE_POINT_INIT ((float) floor (x), (float) floor (y)));
  gtk_snapshot_append_layout (snapshot, layout, color);
  gtk_snapshot_restore (snapshot);
}

static void
app_ruler_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AppRuler *self = APP_RULER (widget);
  Axis axis = { self->begin, self->end, gtk_widget_get_width (widget) };
  int height = gtk_widget_get_height (widget);
  int64_t step;
  GdkRGBA color, line;

  if (axis.width <= 0)
    return;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  line = color;
  line.alpha *= 0.4f;
  step = app_axis_get_step (&axis, TICK_LEAST);
  for (int64_t time = axis.begin / step * step; time <= axis.end; time += step)
    {
      double x = floor (app_axis_get_x (&axis, time));
      g_autofree char *text = app_axis_dup_time (time, step);

      if (x < 0)
        continue;
      gtk_snapshot_append_color (
          snapshot, &line,
          &GRAPHENE_RECT_INIT ((float) x, (float) (height - TICK_HEIGHT), 1, TICK_HEIGHT));
      draw_text (widget, snapshot, text, x + 4, 2, &color);
    }
}

static void
app_ruler_measure (GtkWidget *widget,
                   GtkOrientation orientation,
                   int for_size,
                   int *minimum,
                   int *natural,
                   int *minimum_baseline,
                   int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 10 : RULER_HEIGHT;
}

static void
app_ruler_class_init (AppRulerClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  widget_class->snapshot = app_ruler_snapshot;
  widget_class->measure = app_ruler_measure;
  gtk_widget_class_set_css_name (widget_class, "ruler");
}

static void
app_ruler_init (AppRuler *self)
{
  self->end = 1;
  app_set_time_direction (GTK_WIDGET (self));
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
}

GtkWidget *
app_ruler_new (void)
{
  return g_object_new (APP_TYPE_RULER, NULL);
}

void
app_ruler_set_time (AppRuler *self, int64_t begin, int64_t end)
{
  self->begin = begin;
  self->end = MAX (end, begin + 1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* A label on a background, kept within the width. */
static void
draw_label (AppSelectionLayer *self,
            GtkSnapshot *snapshot,
            const char *text,
            double x,
            bool is_top)
{
  GtkWidget *widget = GTK_WIDGET (self);
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, text);
  int width, height, all = gtk_widget_get_width (widget);
  GdkRGBA back = { 0.1f, 0.1f, 0.1f, 0.86f }, front = { 1, 1, 1, 1 };
  double left, top;

  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_set_width (layout, MAX (all - 2 * LABEL_PAD, 1) * PANGO_SCALE);
  pango_layout_get_pixel_size (layout, &width, &height);
  left = CLAMP (x + 6, 0, MAX (all - width - 2 * LABEL_PAD, 0));
  top = is_top ? 0 : gtk_widget_get_height (widget) - height - 4;
  gtk_snapshot_append_color (snapshot, &back,
                             &GRAPHENE_RECT_INIT ((float) left, (float) top,
                                                  (float) width + 2 * LABEL_PAD,
                                                  (float) height + 4));
  draw_text (widget, snapshot, "", 0, 0, &front);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot,
                          &GRAPHENE_POINT_INIT ((float) left + LABEL_PAD, (float) top + 2));
  gtk_snapshot_append_layout (snapshot, layout, &front);
  gtk_snapshot_restore (snapshot);
}

static void
shade (AppSelectionLayer *self, GtkSnapshot *snapshot, double from, double to)
{
  GdkRGBA color = { 0.98f, 0.98f, 0.98f, (float) SHADE_ALPHA };

  if (app_palette_is_dark ())
    color = (GdkRGBA){ 0.12f, 0.12f, 0.12f, (float) SHADE_ALPHA };
  if (to > from)
    gtk_snapshot_append_color (
        snapshot, &color,
        &GRAPHENE_RECT_INIT ((float) from, 0, (float) (to - from),
                             (float) gtk_widget_get_height (GTK_WIDGET (self))));
}

static void
draw_edge (AppSelectionLayer *self, GtkSnapshot *snapshot, double x)
{
  GdkRGBA color = { 0.21f, 0.52f, 0.89f, 1 };

  if (x >= 0 && x <= gtk_widget_get_width (GTK_WIDGET (self)))
    gtk_snapshot_append_color (
        snapshot, &color,
        &GRAPHENE_RECT_INIT ((float) floor (x), 0, 1,
                             (float) gtk_widget_get_height (GTK_WIDGET (self))));
}

static void
app_selection_layer_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AppSelectionLayer *self = APP_SELECTION_LAYER (widget);
  Axis axis = { self->begin, self->end, gtk_widget_get_width (widget) };
  double begin = floor (app_axis_get_x (&axis, self->selected_begin));
  double end = ceil (app_axis_get_x (&axis, self->selected_end));
  GdkRGBA color;

  if (axis.width <= 0)
    return;
  shade (self, snapshot, 0, MIN (begin, axis.width));
  shade (self, snapshot, MAX (end, 0), axis.width);
  if (self->selected_begin > self->begin)
    draw_edge (self, snapshot, begin);
  if (self->selected_end < self->end)
    draw_edge (self, snapshot, end - 1);
  if (self->pointer >= 0)
    {
      g_autofree char *time =
          app_axis_dup_exact (&axis, app_axis_get_time (&axis, self->pointer));

      gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
      gtk_snapshot_append_color (snapshot, &color,
                                 &GRAPHENE_RECT_INIT ((float) floor (self->pointer), 0, 1,
                                                      (float) gtk_widget_get_height (widget)));
      draw_label (self, snapshot, time, self->pointer, true);
      if (self->text != NULL)
        draw_label (self, snapshot, self->text, self->pointer, false);
    }
}

static void
app_selection_layer_finalize (GObject *object)
{
  g_free (APP_SELECTION_LAYER (object)->text);
  G_OBJECT_CLASS (app_selection_layer_parent_class)->finalize (object);
}

static void
app_selection_layer_class_init (AppSelectionLayerClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = app_selection_layer_finalize;
  widget_class->snapshot = app_selection_layer_snapshot;
}

static void
app_selection_layer_init (AppSelectionLayer *self)
{
  self->end = self->selected_end = 1;
  self->pointer = -1;
  gtk_widget_set_can_target (GTK_WIDGET (self), FALSE);
  app_set_time_direction (GTK_WIDGET (self));
  gtk_widget_set_margin_start (GTK_WIDGET (self), TIMELINE_GUTTER);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
}

GtkWidget *
app_selection_layer_new (void)
{
  return g_object_new (APP_TYPE_SELECTION_LAYER, NULL);
}

void
app_selection_layer_set_time (AppSelectionLayer *self, int64_t begin, int64_t end)
{
  self->begin = begin;
  self->end = MAX (end, begin + 1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
app_selection_layer_set_selection (AppSelectionLayer *self, int64_t begin, int64_t end)
{
  self->selected_begin = begin;
  self->selected_end = end;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
app_selection_layer_set_pointer (AppSelectionLayer *self, double x, const char *text)
{
  self->pointer = x;
  g_free (self->text);
  self->text = g_strdup (text);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
