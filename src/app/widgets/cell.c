// SPDX-License-Identifier: GPL-3.0-or-later

/* Cells of tables. */

#include "app/widgets/cell.h"

#include "app/widgets/cut-text.h"
#include "render/render.h"

#include <math.h>

#define INDENT         14  /* px per level */
#define NAME_LEAST     110 /* px that the indent of deep levels leaves to the text */
#define ADDITION_LEAST 48  /* px: an addition with less room is left out */
#define SWATCH         8   /* px */
#define GRAPH_WIDTH    96
#define BAR_ALPHA      0.28
#define GRAPH_ALPHA    0.65

struct _AppCell
{
  GtkWidget parent_instance;
  GtkWidget *expander;
  GtkWidget *swatch;
  GtkWidget *icon;
  GtkWidget *label;
  GtkWidget *addition;
  bool is_figure;
  uint32_t depth; /* of the row in its tree */
  double share;
  const GraphValues *graph;
  GdkRGBA color;
};

G_DEFINE_FINAL_TYPE (AppCell, app_cell, GTK_TYPE_WIDGET)

static guint toggled_signal;

static void
append_rectangle (GtkSnapshot *snapshot,
                  const GdkRGBA *color,
                  int x,
                  int y,
                  int width,
                  int height)
{
  if (width > 0 && height > 0)
    gtk_snapshot_append_color (snapshot, color, &GRAPHENE_RECT_INIT (x, y, width, height));
}

static void
draw_graph (AppCell *self, GtkSnapshot *snapshot, int width, int height, GdkRGBA color)
{
  uint32_t n = self->graph->n - MIN (self->graph->first, self->graph->n);
  double least, most;

  color.alpha = GRAPH_ALPHA;
  sysprof_graph_limits (self->graph, &least, &most);
  for (uint32_t i = 0; i < n; i++)
    {
      double value = self->graph->values[self->graph->first + i];
      int left = (int) (i * (unsigned) width / n),
          right = (int) ((i + 1) * (unsigned) width / n);
      int bar = (int) lround (sysprof_graph_share (value, least, most) * (height - 4)) + 1;

      if (isfinite (value) && !(self->graph->from_zero && value == 0))
        append_rectangle (snapshot, &color, left, height - 1 - bar, MAX (right - left - 1, 1),
                          bar);
    }
}

static void
app_cell_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AppCell *self = APP_CELL (widget);
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  GdkRGBA color;

  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  if (self->share >= 0)
    {
      GdkRGBA bar = { 0.21f, 0.52f, 0.89f, BAR_ALPHA }; /* the accent of the style */
      int size = (int) lround (MIN (self->share, 1) * width);

      append_rectangle (snapshot, &bar, 0, 1, size, height - 2);
    }
  if (self->graph != NULL)
    draw_graph (self, snapshot, width, height, color);
  GTK_WIDGET_CLASS (app_cell_parent_class)->snapshot (widget, snapshot);
}

static void
draw_swatch (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer data)
{
  AppCell *self = data;

  gdk_cairo_set_source_rgba (cairo, &self->color);
  cairo_rectangle (cairo, 0, (height - SWATCH) / 2, SWATCH, SWATCH);
  cairo_fill (cairo);
}

static void
on_expander_pressed (GtkGestureClick *gesture, int n, double x, double y, AppCell *self)
{
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  g_signal_emit (self, toggled_signal, 0);
}

/* --- layout --- */

/* px of `depth` levels. The indent of deep levels grows less and less, so that it never takes
 * the whole `width`. */
static int
get_indent (const AppCell *self, int width)
{
  double half = MAX (width - NAME_LEAST, 2) / 2.0, wanted = (double) self->depth * INDENT;
  double beyond = wanted - half;

  return (int) (beyond <= 0 ? wanted : half + half * beyond / (half + beyond));
}

static void
app_cell_measure (GtkWidget *widget,
                  GtkOrientation orientation,
                  int for_size,
                  int *minimum,
                  int *natural,
                  int *minimum_baseline,
                  int *natural_baseline)
{
  bool is_width = orientation == GTK_ORIENTATION_HORIZONTAL;

  *minimum = *natural = 0;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int least, wanted;

      gtk_widget_measure (child, orientation, -1, &least, &wanted, NULL, NULL);
      if (child == APP_CELL (widget)->addition)
        least = 0;
      *minimum = is_width ? *minimum + least : MAX (*minimum, least);
      *natural = is_width ? *natural + wanted : MAX (*natural, wanted);
    }
}

/* The text gets its width first, and the addition the rest. */
static void
app_cell_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  AppCell *self = APP_CELL (widget);
  bool is_rtl = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  int x = get_indent (self, width);

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int least, wanted, given;

      if (!gtk_widget_get_visible (child))
        continue;
      gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, &least, &wanted, NULL, NULL);
      if (child == self->addition)
        {
          bool fits = wanted <= width - x || width - x >= ADDITION_LEAST;

          gtk_widget_set_child_visible (child, fits);
          if (!fits)
            continue;
        }
      given = child == self->label && self->is_figure ? width - x : MIN (wanted, width - x);
      given = MAX (given, least);
      gtk_widget_size_allocate (
          child, &(GtkAllocation){ is_rtl ? width - x - given : x, 0, given, height }, -1);
      x += given;
    }
}

static void
app_cell_dispose (GObject *object)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (object))) != NULL)
    gtk_widget_unparent (child);
  G_OBJECT_CLASS (app_cell_parent_class)->dispose (object);
}

static void
app_cell_class_init (AppCellClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = app_cell_dispose;
  widget_class->snapshot = app_cell_snapshot;
  widget_class->measure = app_cell_measure;
  widget_class->size_allocate = app_cell_size_allocate;
  gtk_widget_class_set_css_name (widget_class, "cellbox");
  toggled_signal = g_signal_new ("toggled", APP_TYPE_CELL, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
}

static void
app_cell_init (AppCell *self)
{
  self->share = -1;
  self->label = gtk_label_new (NULL);
  gtk_label_set_ellipsize (GTK_LABEL (self->label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_parent (self->label, GTK_WIDGET (self));
}

AppCell *
app_cell_new (bool is_figure)
{
  AppCell *self = g_object_new (APP_TYPE_CELL, NULL);

  gtk_label_set_xalign (GTK_LABEL (self->label), 0);
  self->is_figure = is_figure;
  if (is_figure)
    {
      /* "5 %" is read from the left in all languages, and aligned to the end of the column. */
      gtk_widget_set_direction (self->label, GTK_TEXT_DIR_LTR);
      gtk_label_set_xalign (GTK_LABEL (self->label),
                            gtk_widget_get_default_direction () == GTK_TEXT_DIR_RTL ? 0 : 1);
      gtk_widget_add_css_class (self->label, "numeric");
    }
  return self;
}

static GtkWidget *
add_addition (AppCell *self)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_widget_set_margin_start (label, 6);
  gtk_widget_insert_after (label, GTK_WIDGET (self), self->label);
  return label;
}

void
app_cell_set_text (AppCell *self, const char *text, const char *addition)
{
  g_autofree char *cut = app_dup_cut_text (text);

  gtk_label_set_text (GTK_LABEL (self->label), cut);
  /* An address without a name differs from others at its end. */
  gtk_label_set_ellipsize (GTK_LABEL (self->label),
                           cut[0] == '[' ? PANGO_ELLIPSIZE_MIDDLE : PANGO_ELLIPSIZE_END);
  if (addition != NULL && self->addition == NULL)
    self->addition = add_addition (self);
  if (self->addition != NULL)
    {
      gtk_label_set_text (GTK_LABEL (self->addition), addition != NULL ? addition : "");
      gtk_widget_set_visible (self->addition, addition != NULL);
    }
}

void
app_cell_set_share (AppCell *self, double share)
{
  self->share = share;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
app_cell_set_graph (AppCell *self, const GraphValues *graph)
{
  self->graph = graph;
  gtk_widget_set_size_request (GTK_WIDGET (self), graph != NULL ? GRAPH_WIDTH : -1, -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
app_cell_set_color (AppCell *self, const GdkRGBA *color)
{
  if (color != NULL && self->swatch == NULL)
    {
      self->swatch = gtk_drawing_area_new ();
      gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (self->swatch), SWATCH);
      gtk_widget_set_margin_end (self->swatch, 6);
      gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->swatch), draw_swatch, self, NULL);
      gtk_widget_insert_before (self->swatch, GTK_WIDGET (self), self->label);
    }
  if (self->swatch == NULL)
    return;
  gtk_widget_set_visible (self->swatch, color != NULL);
  if (color != NULL)
    self->color = *color;
  gtk_widget_queue_draw (self->swatch);
}

void
app_cell_set_icon (AppCell *self, const char *name)
{
  if (self->icon == NULL)
    {
      self->icon = gtk_image_new ();
      gtk_widget_set_margin_end (self->icon, 6);
      gtk_widget_insert_before (self->icon, GTK_WIDGET (self), self->label);
    }
  gtk_image_set_from_icon_name (GTK_IMAGE (self->icon), name);
}

void
app_cell_set_level (AppCell *self, uint32_t depth, bool is_expandable, bool is_expanded)
{
  if (self->expander == NULL)
    {
      GtkGesture *click = gtk_gesture_click_new ();

      self->expander = gtk_image_new ();
      gtk_widget_insert_after (self->expander, GTK_WIDGET (self), NULL);
      g_signal_connect (click, "pressed", G_CALLBACK (on_expander_pressed), self);
      gtk_widget_add_controller (self->expander, GTK_EVENT_CONTROLLER (click));
    }
  gtk_image_set_from_icon_name (GTK_IMAGE (self->expander),
                                is_expanded ? "pan-down-symbolic" : "pan-end-symbolic");
  self->depth = depth;
  gtk_widget_set_margin_end (self->expander, 4);
  gtk_widget_set_opacity (self->expander, is_expandable ? 1 : 0);
}

void
app_cell_set_kind (AppCell *self, const char *kind)
{
  static const char *const kinds[] = { "process", "thread", "root", "marker" };

  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kind != NULL && g_str_equal (kinds[i], kind))
      gtk_widget_add_css_class (self->label, kinds[i]);
    else
      gtk_widget_remove_css_class (self->label, kinds[i]);
}
