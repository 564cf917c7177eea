// SPDX-License-Identifier: GPL-3.0-or-later

/* Cells of tables. */

#include "app/widgets/cell.h"

#include "app/widgets/cut-text.h"
#include "app/widgets/naming.h"
#include "render/render.h"

#include <adwaita.h>
#include <math.h>

#define INDENT         14  /* px per level */
#define NAME_LEAST     110 /* px that the indent of deep levels leaves to the text */
#define ADDITION_LEAST 48  /* px: an addition with less room is left out */
#define ADDITION_GAP   6   /* px */
#define SWATCH         8   /* px */
#define GRAPH_WIDTH    96
#define BAR_ALPHA      0.28
#define GRAPH_ALPHA    0.65
#define DIM_ALPHA      0.55f
#define CONTRAST_ALPHA 0.9f /* of dim text, with high contrast */
#define BADGE_PAD      8    /* px left and right of a text with a background */
#define BADGE_RADIUS   9

/* Backgrounds of the texts of kinds of rows. */
static const struct
{
  const char *kind, *color; /* a name of the style */
  float alpha;
} badges[] = {
  { "process", "accent_bg_color", 0.18f },
  { "thread", "purple_3", 0.22f },
  { "root", "view_fg_color", 0.1f },
  { "marker", "error_bg_color", 0.3f },
};

/* A text on one line. Its layout exists since it was drawn first: most rows of a table are out
 * of sight. */
typedef struct
{
  char *text; /* or NULL */
  PangoLayout *layout;
  int room; /* px that the layout is fitted to, or -1 */
} LineText;

struct _AppCell
{
  GtkWidget parent_instance;
  GtkWidget *expander;
  GtkWidget *swatch;
  GtkWidget *icon;
  LineText text, addition;
  bool is_figure;
  uint32_t depth; /* of the row in its tree */
  int text_x;     /* px, after the indent and the children */
  int badge;      /* index, or -1 */
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

/* --- texts --- */

/* Returns whether the text is another one than before. */
static bool
set_text (AppCell *self, LineText *text, const char *value)
{
  if (g_strcmp0 (text->text, value) == 0)
    return false;
  g_free (text->text);
  text->text = g_strdup (value);
  text->room = -1;
  if (text->layout != NULL)
    pango_layout_set_text (text->layout, value != NULL ? value : "", -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  return true;
}

static void
clear_text (LineText *text)
{
  g_clear_pointer (&text->text, g_free);
  g_clear_object (&text->layout);
}

static PangoLayout *
get_layout (AppCell *self, LineText *text)
{
  if (text->layout != NULL)
    return text->layout;
  text->layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text->text);
  text->room = -1;
  pango_layout_set_single_paragraph_mode (text->layout, TRUE);
  if (self->is_figure)
    {
      g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();

      pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum=1"));
      pango_layout_set_attributes (text->layout, attributes);
    }
  return text->layout;
}

/* Returns the width that the text takes of `room` px. */
static int
fit_text (AppCell *self, LineText *text, int room)
{
  PangoLayout *layout = get_layout (self, text);
  int width;

  if (text->room != room)
    {
      pango_layout_set_width (layout, -1);
      pango_layout_get_pixel_size (layout, &width, NULL);
      /* An address without a name differs from others at its end. */
      pango_layout_set_ellipsize (layout, text->text[0] == '[' ? PANGO_ELLIPSIZE_MIDDLE
                                                               : PANGO_ELLIPSIZE_END);
      if (width > room)
        pango_layout_set_width (layout, MAX (room, 1) * PANGO_SCALE);
      text->room = room;
    }
  pango_layout_get_pixel_size (layout, &width, NULL);
  return width;
}

static void
draw_layout (AppCell *self, GtkSnapshot *snapshot, PangoLayout *layout, int x, GdkRGBA *color)
{
  PangoRectangle place;

  pango_layout_get_pixel_extents (layout, NULL, &place);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT (
                    (float) (x - place.x),
                    (float) ((gtk_widget_get_height (GTK_WIDGET (self)) - place.height) / 2)));
  gtk_snapshot_append_layout (snapshot, layout, color);
  gtk_snapshot_restore (snapshot);
}

static void
draw_badge (AppCell *self, GtkSnapshot *snapshot, int x, int width)
{
  GskRoundedRect outline;
  GdkRGBA color;

  if (!gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                                       badges[self->badge].color, &color))
    return;
  color.alpha *= badges[self->badge].alpha;
  gsk_rounded_rect_init_from_rect (
      &outline,
      &GRAPHENE_RECT_INIT ((float) x, 0, (float) width,
                           (float) gtk_widget_get_height (GTK_WIDGET (self))),
      BADGE_RADIUS);
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, &color, &outline.bounds);
  gtk_snapshot_pop (snapshot);
}

/* The text gets its width first, and the addition the rest. */
static void
draw_texts (AppCell *self, GtkSnapshot *snapshot, int width, GdkRGBA color)
{
  bool is_rtl = gtk_widget_get_default_direction () == GTK_TEXT_DIR_RTL;
  int pad = self->badge >= 0 ? BADGE_PAD : 0;
  int x = self->text_x, size, used, room;

  if (self->text.text == NULL)
    return;
  size = fit_text (self, &self->text, MAX (width - x - 2 * pad, 0));
  used = size + 2 * pad;
  if (self->is_figure)
    x = width - used;
  if (self->badge >= 0)
    draw_badge (self, snapshot, is_rtl ? width - x - used : x, used);
  x += pad;
  draw_layout (self, snapshot, self->text.layout, is_rtl ? width - x - size : x, &color);
  x += size + pad + ADDITION_GAP;
  room = width - x;
  if (self->addition.text == NULL || room <= 0)
    return;
  size = fit_text (self, &self->addition, room);
  if (room < ADDITION_LEAST && size >= room)
    return;
  color.alpha *= adw_style_manager_get_high_contrast (adw_style_manager_get_default ())
                     ? CONTRAST_ALPHA
                     : DIM_ALPHA;
  draw_layout (self, snapshot, self->addition.layout, is_rtl ? width - x - size : x, &color);
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
  draw_texts (self, snapshot, width, color);
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

/* px of a line. It is the same in all cells with the same font. */
static int
get_line_height (GtkWidget *widget)
{
  static PangoFontDescription *font;
  static int height;
  PangoContext *context = gtk_widget_get_pango_context (widget);
  const PangoFontDescription *wanted = pango_context_get_font_description (context);

  if (font == NULL || !pango_font_description_equal (font, wanted))
    {
      g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, "0");

      pango_layout_get_pixel_size (layout, NULL, &height);
      g_clear_pointer (&font, pango_font_description_free);
      font = pango_font_description_copy (wanted);
    }
  return height;
}

/* The column gives the width of the texts. */
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

  *minimum = is_width ? 0 : get_line_height (widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int least;

      gtk_widget_measure (child, orientation, -1, &least, NULL, NULL, NULL);
      *minimum = is_width ? *minimum + least : MAX (*minimum, least);
    }
  *natural = *minimum;
}

static void
app_cell_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  AppCell *self = APP_CELL (widget);
  bool is_rtl = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  int x = get_indent (self, width);

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int size;

      if (!gtk_widget_get_visible (child))
        continue;
      gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, &size, NULL, NULL, NULL);
      gtk_widget_size_allocate (
          child, &(GtkAllocation){ is_rtl ? width - x - size : x, 0, size, height }, -1);
      x += size;
    }
  self->text_x = x;
}

static void
app_cell_dispose (GObject *object)
{
  AppCell *self = APP_CELL (object);
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (object))) != NULL)
    gtk_widget_unparent (child);
  clear_text (&self->text);
  clear_text (&self->addition);
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
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LABEL);
  toggled_signal = g_signal_new ("toggled", APP_TYPE_CELL, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
}

static void
app_cell_init (AppCell *self)
{
  self->share = -1;
  self->badge = -1;
}

AppCell *
app_cell_new (bool is_figure)
{
  AppCell *self = g_object_new (APP_TYPE_CELL, NULL);

  self->is_figure = is_figure;
  if (is_figure) /* "5 %" is read from the left in all languages */
    gtk_widget_set_direction (GTK_WIDGET (self), GTK_TEXT_DIR_LTR);
  return self;
}

void
app_cell_set_text (AppCell *self, const char *text, const char *addition)
{
  g_autofree char *cut = app_dup_cut_text (text);

  if (set_text (self, &self->text, cut))
    app_set_name (GTK_WIDGET (self), cut);
  set_text (self, &self->addition, addition);
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
      gtk_widget_insert_before (self->swatch, GTK_WIDGET (self), NULL);
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
      gtk_widget_insert_before (self->icon, GTK_WIDGET (self), NULL);
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
  if (self->depth != depth)
    gtk_widget_queue_allocate (GTK_WIDGET (self));
  self->depth = depth;
  gtk_widget_set_margin_end (self->expander, 4);
  gtk_widget_set_opacity (self->expander, is_expandable ? 1 : 0);
}

void
app_cell_set_kind (AppCell *self, const char *kind)
{
  self->badge = -1;
  for (int i = 0; i < (int) G_N_ELEMENTS (badges); i++)
    if (g_strcmp0 (kind, badges[i].kind) == 0)
      self->badge = i;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
