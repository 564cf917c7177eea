// SPDX-License-Identifier: GPL-3.0-or-later

/* Actions on the span at the cursor of a chart. To add one, add a row to `span_actions`. */

#include "app/charts/chart-export.h"
#include "app/charts/spans-private.h"
#include "app/widgets/row-menu.h"

#include <glib/gi18n.h>

const ChartSpan *
app_spans_get_span (AppSpans *self)
{
  return self->cursor_span >= 0 ? &self->picture.chart->spans[self->cursor_span] : NULL;
}

static const Mark *
get_mark (AppSpans *self)
{
  const ChartSpan *span = app_spans_get_span (self);

  return span != NULL && sysprof_span_chart_is_of_marks (self->picture.chart)
             ? &app_session_get_store (self->session)->marks[span->item]
             : NULL;
}

void
app_spans_select (AppSpans *self)
{
  const ChartSpan *span = app_spans_get_span (self);

  if (span != NULL && span->end > span->begin)
    app_spans_select_time (self, span->begin, span->end);
}

static void
zoom_to_span (AppSpans *self)
{
  const ChartSpan *span = app_spans_get_span (self);

  self->picked_begin = self->picked_end = 0;
  if (span != NULL && span->end > span->begin)
    app_session_zoom_to (self->session, span->begin, span->end);
}

void
app_spans_activate (AppSpans *self)
{
  guint signal = g_signal_lookup ("activated", APP_TYPE_SPANS);

  if (app_spans_get_span (self) == NULL)
    return;
  if (g_signal_has_handler_pending (self, signal, 0, FALSE))
    g_signal_emit (self, signal, 0, app_spans_get_span (self)->item);
  else
    zoom_to_span (self);
}

static void
set_as_filter (AppSpans *self)
{
  const Mark *mark = get_mark (self);
  const Store *store = app_session_get_store (self->session);
  g_autofree char *value =
      mark != NULL ? g_strdup_printf ("%s/%s", sysprof_store_string (store, mark->group),
                                      sysprof_store_string (store, mark->name))
                   : NULL;

  if (value != NULL)
    app_session_add_filter (self->session, "mark", value);
}

static void
keep_process (AppSpans *self)
{
  const ChartSpan *span = app_spans_get_span (self);
  int pid = span != NULL ? sysprof_span_chart_get_pid (self->picture.chart, span->item) : -1;
  g_autofree char *value = g_strdup_printf ("%d", pid);

  if (pid >= 0)
    app_session_add_filter (self->session, "process", value);
}

static void
toggle_row (AppSpans *self)
{
  if (self->cursor_row >= 0 && !sysprof_span_chart_has_row_per_span (self->picture.chart))
    app_spans_toggle (self,
                      app_span_picture_get_row (&self->picture, (guint) self->cursor_row)->row);
}

typedef struct
{
  const char *name;
  const char *title;
  guint key;
  void (*run) (AppSpans *self);
  bool is_of_marks, is_of_rows;
} SpanAction;

static const SpanAction span_actions[] = {
  { "chart.select", N_ ("_Select Time Span"), GDK_KEY_s, app_spans_select },
  { "chart.zoom", N_ ("_Zoom to Time Span"), GDK_KEY_z, zoom_to_span },
  { "chart.filter", N_ ("Set as _Filter"), GDK_KEY_m, set_as_filter, .is_of_marks = true },
  { "chart.toggle", N_ ("_Toggle Marks"), GDK_KEY_t, toggle_row, .is_of_rows = true },
  { "chart.process", N_ ("Only This _Process"), GDK_KEY_p, keep_process },
};

static bool
action_applies (AppSpans *self, const SpanAction *action)
{
  bool has_rows = !sysprof_span_chart_has_row_per_span (self->picture.chart);

  return app_spans_get_span (self) != NULL &&
         (!action->is_of_marks || sysprof_span_chart_is_of_marks (self->picture.chart)) &&
         (!action->is_of_rows || has_rows);
}

static void
on_action (GtkWidget *widget, const char *name, GVariant *parameter)
{
  for (size_t i = 0; i < G_N_ELEMENTS (span_actions); i++)
    if (g_str_equal (span_actions[i].name, name) && APP_SPANS (widget)->picture.chart != NULL)
      span_actions[i].run (APP_SPANS (widget));
}

void
app_spans_show_menu (AppSpans *self)
{
  g_autoptr (GMenu) menu = g_menu_new ();
  GdkRectangle area;
  double x, y;

  if (app_spans_get_span (self) == NULL)
    return;
  for (size_t i = 0; i < G_N_ELEMENTS (span_actions); i++)
    if (action_applies (self, &span_actions[i]))
      g_menu_append (menu, _ (span_actions[i].title), span_actions[i].name);
  g_menu_append (menu, _ ("_Export Chart…"), "view.export");
  app_span_picture_place (&self->picture, (guint) self->cursor_row,
                          (uint32_t) self->cursor_span, &area);
  gtk_widget_translate_coordinates (self->area, GTK_WIDGET (self), area.x, area.y, &x, &y);
  app_row_menu_popup (GTK_WIDGET (self), NULL, 0, G_MENU_MODEL (menu), x, y);
}

static void
on_menu (GtkWidget *widget, const char *name, GVariant *parameter)
{
  app_spans_show_menu (APP_SPANS (widget));
}

static void
on_find (GtkWidget *widget, const char *name, GVariant *parameter)
{
  app_search_open (&APP_SPANS (widget)->search);
}

static void
on_step (GtkWidget *widget, const char *name, GVariant *parameter)
{
  app_spans_step (APP_SPANS (widget), g_str_equal (name, "view.next") ? 1 : -1);
}

static void
on_export (GtkWidget *widget, const char *name, GVariant *parameter)
{
  app_chart_export (APP_SPANS (widget)->stack, APP_SPANS (widget)->name);
}

bool
app_spans_run_key (AppSpans *self, guint key)
{
  for (size_t i = 0; i < G_N_ELEMENTS (span_actions); i++)
    if (span_actions[i].key == key && action_applies (self, &span_actions[i]))
      {
        span_actions[i].run (self);
        return true;
      }
  return false;
}

void
app_spans_class_add_actions (GtkWidgetClass *class)
{
  for (size_t i = 0; i < G_N_ELEMENTS (span_actions); i++)
    gtk_widget_class_install_action (class, span_actions[i].name, NULL, on_action);
  gtk_widget_class_install_action (class, "chart.menu", NULL, on_menu);
  gtk_widget_class_install_action (class, "view.find", NULL, on_find);
  gtk_widget_class_install_action (class, "view.next", NULL, on_step);
  gtk_widget_class_install_action (class, "view.previous", NULL, on_step);
  gtk_widget_class_install_action (class, "view.export", NULL, on_export);
  gtk_widget_class_add_binding_action (class, GDK_KEY_F10, GDK_SHIFT_MASK, "chart.menu", NULL);
  gtk_widget_class_add_binding_action (class, GDK_KEY_Menu, 0, "chart.menu", NULL);
}
