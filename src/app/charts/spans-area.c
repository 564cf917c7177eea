// SPDX-License-Identifier: GPL-3.0-or-later

/* The scrolled part of charts of spans. */

#include "app/charts/spans-area.h"

#include <glib/gi18n.h>

#define EYE_SIZE 20 /* px */

struct _AppSpansArea
{
  GtkWidget parent_instance;
  SpanPicture *picture; /* borrowed from the chart */
  GtkAdjustment *vertical, *horizontal;
  AppCursor *cursor;
  int64_t cursor_row, cursor_span; /* -1 = none */
  GPtrArray *eyes;                 /* of buttons, one per group */
};

enum
{
  PROP_0,
  PROP_HADJUSTMENT,
  PROP_VADJUSTMENT,
  PROP_HSCROLL_POLICY,
  PROP_VSCROLL_POLICY,
};

G_DEFINE_FINAL_TYPE_WITH_CODE (AppSpansArea,
                               app_spans_area,
                               GTK_TYPE_WIDGET,
                               G_IMPLEMENT_INTERFACE (GTK_TYPE_SCROLLABLE, NULL))

/* --- buttons of groups --- */

static void
on_eye (GtkButton *button, AppSpansArea *self)
{
  uint32_t row = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "row"));

  g_signal_emit_by_name (self, "toggled", row);
}

static void
add_eye (AppSpansArea *self, guint shown)
{
  uint32_t row = app_span_picture_get_row (self->picture, shown)->row;
  bool is_hidden = app_span_picture_is_hidden (self->picture, row);
  GtkWidget *button = gtk_button_new_from_icon_name (is_hidden ? "view-conceal-symbolic"
                                                               : "view-reveal-symbolic");
  g_autofree char *title = sysprof_span_chart_dup_title (self->picture->chart, row);
  g_autofree char *label =
      g_strdup_printf (is_hidden ? _ ("Show group %s") : _ ("Hide group %s"), title);

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "eye");
  gtk_widget_set_tooltip_text (button, label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  g_object_set_data (G_OBJECT (button), "row", GUINT_TO_POINTER (row));
  g_object_set_data (G_OBJECT (button), "shown", GUINT_TO_POINTER (shown));
  g_signal_connect (button, "clicked", G_CALLBACK (on_eye), self);
  gtk_widget_set_parent (button, GTK_WIDGET (self));
  g_ptr_array_add (self->eyes, button);
}

void
app_spans_area_update (AppSpansArea *self)
{
  const SpanPicture *picture = self->picture;

  g_ptr_array_set_size (self->eyes, 0);
  for (guint i = 0; i < picture->shown->len; i++)
    if (picture->chart->rows[app_span_picture_get_row (picture, i)->row].n == 0)
      add_eye (self, i);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
place_eyes (AppSpansArea *self)
{
  for (guint i = 0; i < self->eyes->len; i++)
    {
      GtkWidget *eye = self->eyes->pdata[i];
      guint shown = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (eye), "shown"));
      int y = (int) (shown * SPAN_ROW_HEIGHT - self->picture->top);
      bool is_visible = y > -SPAN_ROW_HEIGHT && y < self->picture->height;
      GtkAllocation area = { 4, y, EYE_SIZE, SPAN_ROW_HEIGHT - 1 };
      int width, height;

      gtk_widget_set_child_visible (eye, is_visible);
      if (!is_visible)
        continue;
      gtk_widget_measure (eye, GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL, NULL);
      gtk_widget_measure (eye, GTK_ORIENTATION_VERTICAL, -1, &height, NULL, NULL, NULL);
      area.width = MAX (area.width, width);
      area.height = MAX (area.height, height);
      gtk_widget_size_allocate (eye, &area, -1);
    }
}

/* --- cursor --- */

void
app_spans_area_set_cursor (AppSpansArea *self, int64_t shown, int64_t span)
{
  self->cursor_row = shown;
  self->cursor_span = span;
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

void
app_spans_area_move (AppSpansArea *self, guint shown, uint32_t span, const char *text)
{
  GdkRectangle area;

  app_spans_area_set_cursor (self, shown, span);
  gtk_adjustment_clamp_page (self->vertical, shown * SPAN_ROW_HEIGHT,
                             (shown + 1) * SPAN_ROW_HEIGHT);
  app_span_picture_place (self->picture, shown, span, &area);
  app_cursor_move (self->cursor, &area, text);
}

/* --- widget --- */

static void
app_spans_area_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  AppSpansArea *self = APP_SPANS_AREA (widget);
  SpanPicture *picture = self->picture;
  double content = picture->shown->len * (double) SPAN_ROW_HEIGHT;
  GdkRectangle area;

  picture->width = width;
  picture->height = height;
  if (self->vertical != NULL)
    {
      g_object_freeze_notify (G_OBJECT (self->vertical));
      gtk_adjustment_configure (self->vertical, gtk_adjustment_get_value (self->vertical), 0,
                                MAX (content, height), SPAN_ROW_HEIGHT, height * 0.9, height);
      g_object_thaw_notify (G_OBJECT (self->vertical));
      picture->top = gtk_adjustment_get_value (self->vertical);
    }
  if (self->horizontal != NULL)
    gtk_adjustment_configure (self->horizontal, 0, 0, width, 1, width, width);
  place_eyes (self);
  if (self->cursor_span >= 0)
    {
      app_span_picture_place (picture, (guint) self->cursor_row, (uint32_t) self->cursor_span,
                              &area);
      app_cursor_place (self->cursor, &area);
    }
  app_cursor_allocate (self->cursor);
}

static void
app_spans_area_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AppSpansArea *self = APP_SPANS_AREA (widget);

  if (self->picture->chart != NULL && self->picture->width > SPAN_GUTTER)
    app_span_picture_draw (self->picture, widget, snapshot);
  GTK_WIDGET_CLASS (app_spans_area_parent_class)->snapshot (widget, snapshot);
}

static void
app_spans_area_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  *minimum = *natural = 4 * SPAN_ROW_HEIGHT;
}

static void
on_scrolled (AppSpansArea *self)
{
  double top = gtk_adjustment_get_value (self->vertical);

  if (top == self->picture->top)
    return;
  self->picture->top = top;
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
set_adjustment (AppSpansArea *self, GtkAdjustment **member, GtkAdjustment *adjustment)
{
  if (*member != NULL)
    g_signal_handlers_disconnect_by_data (*member, self);
  g_set_object (member, adjustment);
  if (adjustment != NULL && member == &self->vertical)
    g_signal_connect_swapped (adjustment, "value-changed", G_CALLBACK (on_scrolled), self);
}

static void
app_spans_area_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  AppSpansArea *self = APP_SPANS_AREA (object);

  if (id == PROP_HADJUSTMENT)
    set_adjustment (self, &self->horizontal, g_value_get_object (value));
  else if (id == PROP_VADJUSTMENT)
    set_adjustment (self, &self->vertical, g_value_get_object (value));
}

static void
app_spans_area_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  AppSpansArea *self = APP_SPANS_AREA (object);

  if (id == PROP_HADJUSTMENT)
    g_value_set_object (value, self->horizontal);
  else if (id == PROP_VADJUSTMENT)
    g_value_set_object (value, self->vertical);
  else
    g_value_set_enum (value, GTK_SCROLL_MINIMUM);
}

static void
app_spans_area_dispose (GObject *object)
{
  AppSpansArea *self = APP_SPANS_AREA (object);

  g_clear_pointer (&self->eyes, g_ptr_array_unref);
  g_clear_pointer (&self->cursor, app_cursor_free);
  set_adjustment (self, &self->horizontal, NULL);
  set_adjustment (self, &self->vertical, NULL);
  G_OBJECT_CLASS (app_spans_area_parent_class)->dispose (object);
}

static void
app_spans_area_class_init (AppSpansAreaClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->dispose = app_spans_area_dispose;
  object_class->set_property = app_spans_area_set_property;
  object_class->get_property = app_spans_area_get_property;
  g_object_class_override_property (object_class, PROP_HADJUSTMENT, "hadjustment");
  g_object_class_override_property (object_class, PROP_VADJUSTMENT, "vadjustment");
  g_object_class_override_property (object_class, PROP_HSCROLL_POLICY, "hscroll-policy");
  g_object_class_override_property (object_class, PROP_VSCROLL_POLICY, "vscroll-policy");
  g_signal_new ("toggled", APP_TYPE_SPANS_AREA, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                G_TYPE_NONE, 1, G_TYPE_UINT);
  widget_class->snapshot = app_spans_area_snapshot;
  widget_class->measure = app_spans_area_measure;
  widget_class->size_allocate = app_spans_area_size_allocate;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LIST);
  gtk_widget_class_set_css_name (widget_class, "spans");
}

static void
app_spans_area_init (AppSpansArea *self)
{
  self->cursor = app_cursor_new (GTK_WIDGET (self));
  self->cursor_row = self->cursor_span = -1;
  self->eyes = g_ptr_array_new_with_free_func ((GDestroyNotify) gtk_widget_unparent);
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
}

GtkWidget *
app_spans_area_new (SpanPicture *picture)
{
  AppSpansArea *self = g_object_new (APP_TYPE_SPANS_AREA, NULL);

  self->picture = picture;
  return GTK_WIDGET (self);
}
