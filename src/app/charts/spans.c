// SPDX-License-Identifier: GPL-3.0-or-later

/* Charts of spans: pointer, keys, menu, and the focus of the session. */

#include "app/charts/spans-private.h"
#include "app/charts/time-drag.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

G_DEFINE_FINAL_TYPE (AppSpans, app_spans, GTK_TYPE_WIDGET)

/* "1.25 s, Mark (4.1 ms): gtk / layout" *(full)* */
static char *
dup_text (AppSpans *self, int64_t i)
{
  const ChartSpan *span = &self->picture.chart->spans[i];
  Axis axis = app_span_picture_get_axis (&self->picture);
  g_autofree char *text = sysprof_span_chart_dup_text (self->picture.chart, span);
  g_autofree char *time = app_axis_dup_exact (&axis, span->begin);

  return g_strdup_printf ("%s, %s", time, text);
}

static void
move_cursor (AppSpans *self, int64_t shown, int64_t span)
{
  g_autofree char *text = dup_text (self, span);

  self->cursor_row = shown;
  self->cursor_span = span;
  app_spans_area_move (APP_SPANS_AREA (self->area), (guint) shown, (uint32_t) span, text);
}

/* Finds the row on the screen that has the span; -1 if it is hidden. */
static int64_t
find_shown (AppSpans *self, int64_t span)
{
  const SpanPicture *picture = &self->picture;

  for (guint i = 0; i < picture->shown->len; i++)
    {
      const SpanRow *row = &picture->chart->rows[app_span_picture_get_row (picture, i)->row];

      if (span >= row->first && span < (int64_t) row->first + row->n)
        return i;
    }
  return -1;
}

static void
set_cursor (AppSpans *self, int64_t span)
{
  self->cursor_row = span >= 0 ? find_shown (self, span) : -1;
  self->cursor_span = self->cursor_row >= 0 ? span : -1;
  app_spans_area_set_cursor (APP_SPANS_AREA (self->area), self->cursor_row, self->cursor_span);
}

void
app_spans_toggle (AppSpans *self, uint32_t row)
{
  app_span_picture_toggle (&self->picture, row);
  set_cursor (self, self->cursor_span);
  app_spans_area_update (APP_SPANS_AREA (self->area));
}

static void
on_toggled (AppSpansArea *area, guint row, AppSpans *self)
{
  app_spans_toggle (self, row);
}

/* --- pointer --- */

static bool
pick (AppSpans *self, double x, double y)
{
  int64_t span =
      self->picture.chart != NULL ? app_span_picture_find (&self->picture, x, y) : -1;

  if (span >= 0)
    move_cursor (self, app_span_picture_find_row (&self->picture, y), span);
  return span >= 0;
}

/* Whether the click follows another one at the same place of the window. GTK compares places in
 * the chart, which moves down when the first click adds a chip above it. */
static bool
is_double_click (AppSpans *self, GtkEventController *controller, double x, double y)
{
  GtkWidget *window = GTK_WIDGET (gtk_widget_get_root (self->area));
  uint32_t time = gtk_event_controller_get_current_event_time (controller);
  int most_msec, most_px;
  bool is_double;

  g_object_get (gtk_widget_get_settings (self->area), "gtk-double-click-time", &most_msec,
                "gtk-double-click-distance", &most_px, NULL);
  gtk_widget_translate_coordinates (self->area, window, x, y, &x, &y);
  is_double = self->clicked_at != 0 && time - self->clicked_at < (uint32_t) most_msec &&
              fabs (x - self->clicked_x) <= most_px && fabs (y - self->clicked_y) <= most_px;
  self->clicked_at = is_double ? 0 : time;
  self->clicked_x = x;
  self->clicked_y = y;
  return is_double;
}

/* A click beside the bars selects the whole axis again. */
static void
on_click (GtkGestureClick *gesture, int n, double x, double y, AppSpans *self)
{
  bool is_double = is_double_click (self, GTK_EVENT_CONTROLLER (gesture), x, y);

  if (is_double && self->clicked_span)
    {
      app_spans_activate (self);
      return;
    }
  self->clicked_span = pick (self, x, y);
  if (!self->clicked_span)
    {
      gtk_widget_grab_focus (self->area);
      if (x >= SPAN_GUTTER && self->picked_end > self->picked_begin)
        app_session_select (self->session, self->picture.begin, self->picture.end);
      return;
    }
  app_spans_select (self);
}

static void
on_secondary_click (GtkGestureClick *gesture, int n, double x, double y, AppSpans *self)
{
  if (pick (self, x, y))
    app_spans_show_menu (self);
}

static Axis
get_axis (gpointer data)
{
  return app_span_picture_get_axis (&APP_SPANS (data)->picture);
}

static void
get_selection (gpointer data, int64_t *begin, int64_t *end)
{
  const Focus *focus = app_session_get_focus (APP_SPANS (data)->session);

  *begin = focus->selected_begin;
  *end = focus->selected_end;
}

void
app_spans_select_time (AppSpans *self, int64_t begin, int64_t end)
{
  self->picked_begin = MAX (begin, 0);
  self->picked_end = end;
  app_session_select (self->session, begin, end);
}

static void
select_time (gpointer data, int64_t begin, int64_t end)
{
  app_spans_select_time (data, begin, end);
}

static void
zoom (gpointer data, double factor, int64_t at)
{
  AppSpans *self = data;
  Axis axis = get_axis (data);
  double width = (double) (axis.end - axis.begin);
  double share = (double) (at - axis.begin) / width;

  app_session_zoom_to (self->session, at - (int64_t) (share * width / factor),
                       at + (int64_t) ((1 - share) * width / factor));
}

static void
pan (gpointer data, double widths)
{
  AppSpans *self = data;
  Axis axis = get_axis (data);
  int64_t by = (int64_t) (widths * (double) (axis.end - axis.begin));

  app_session_zoom_to (self->session, axis.begin + by, axis.end + by);
}

/* Clicks are those of the area. */
static const TimeDragClass drag_class = {
  .get_axis = get_axis,
  .get_selection = get_selection,
  .select = select_time,
  .zoom = zoom,
  .pan = pan,
};

static gboolean
on_tooltip (GtkWidget *area, int x, int y, gboolean by_key, GtkTooltip *tooltip, AppSpans *self)
{
  int64_t span = self->picture.chart != NULL && !by_key
                     ? app_span_picture_find (&self->picture, x, y)
                     : -1;
  g_autofree char *text = span >= 0 ? dup_text (self, span) : NULL;

  gtk_tooltip_set_text (tooltip, text);
  return text != NULL;
}

/* --- keys --- */

/* The nearest row with spans in a direction, `n` rows away or less. */
static int64_t
find_row (AppSpans *self, int64_t from, int64_t step)
{
  const SpanPicture *picture = &self->picture;
  int direction = step < 0 ? -1 : 1;
  int64_t last = (int64_t) picture->shown->len - 1, found = -1;

  for (int64_t at = from + direction; at >= 0 && at <= last; at += direction)
    {
      if (picture->chart->rows[app_span_picture_get_row (picture, (guint) at)->row].n > 0)
        found = at;
      if (found >= 0 && ABS (at - from) >= ABS (step))
        break;
    }
  return found;
}

/* Over all rows, from the last span to the first one. Rows of hidden groups are left out. */
void
app_spans_step (AppSpans *self, int step)
{
  int64_t n = self->picture.chart != NULL ? self->picture.chart->n_spans : 0;
  int64_t at = self->cursor_span >= 0 || step > 0 ? self->cursor_span : 0;

  for (int64_t i = 0; i < n; i++)
    {
      int64_t row;

      at = (at + step + n) % n;
      row = find_shown (self, at);
      if (row >= 0)
        {
          move_cursor (self, row, at);
          return;
        }
    }
}

static bool
move_to_row (AppSpans *self, int64_t from, int64_t step)
{
  const ChartSpan *at = app_spans_get_span (self);
  int64_t row = find_row (self, from, step), span;

  if (row < 0)
    return false;
  span = sysprof_span_chart_find (self->picture.chart,
                                  app_span_picture_get_row (&self->picture, (guint) row)->row,
                                  at != NULL ? at->begin : self->picture.begin, INT64_MAX / 4);
  if (span >= 0)
    move_cursor (self, row, span);
  return span >= 0;
}

static void
move_in_row (AppSpans *self, guint key)
{
  const SpanChart *chart = self->picture.chart;
  guint shown = (guint) self->cursor_row;
  const SpanRow *row = &chart->rows[app_span_picture_get_row (&self->picture, shown)->row];
  int64_t first = row->first, last = first + row->n - 1, to = self->cursor_span;
  bool is_back = key == GDK_KEY_Left || key == GDK_KEY_comma;

  if (row->n == 1 && key != GDK_KEY_Home && key != GDK_KEY_End)
    {
      move_to_row (self, self->cursor_row, is_back ? -1 : 1);
      return;
    }
  if (row->n == 1)
    {
      move_to_row (self, key == GDK_KEY_Home ? -1 : (int64_t) self->picture.shown->len,
                   key == GDK_KEY_Home ? 1 : -1);
      return;
    }
  to = key == GDK_KEY_Home ? first : key == GDK_KEY_End ? last : is_back ? to - 1 : to + 1;
  move_cursor (self, self->cursor_row, CLAMP (to, first, last));
}

static gboolean
on_key (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType state,
        AppSpans *self)
{
  int64_t page = MAX (self->picture.height / SPAN_ROW_HEIGHT - 1, 1);
  bool is_move = true;

  if (self->picture.chart == NULL || self->picture.chart->n_spans == 0 ||
      (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK)) != 0)
    return FALSE;
  switch (key)
    {
    case GDK_KEY_Up:
    case GDK_KEY_Page_Up:
      return move_to_row (self, self->cursor_row, key == GDK_KEY_Up ? -1 : -page);
    case GDK_KEY_Down:
    case GDK_KEY_Page_Down:
      return move_to_row (self, self->cursor_row, key == GDK_KEY_Down ? 1 : page);
    case GDK_KEY_Left:
    case GDK_KEY_Right:
    case GDK_KEY_Home:
    case GDK_KEY_End:
    case GDK_KEY_comma:
    case GDK_KEY_period:
      break;
    default:
      is_move = false;
    }
  if (self->cursor_span < 0)
    return is_move && move_to_row (self, -1, 1);
  if (is_move)
    move_in_row (self, key);
  else if (key == GDK_KEY_Return || key == GDK_KEY_KP_Enter)
    app_spans_activate (self);
  else if (key == GDK_KEY_space)
    app_spans_select (self);
  else
    return app_spans_run_key (self, key);
  return TRUE;
}

/* --- rows --- */

static void
show_status (AppSpans *self, const char *title, const char *text)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  adw_status_page_set_title (ADW_STATUS_PAGE (self->status), title);
  adw_status_page_set_description (ADW_STATUS_PAGE (self->status), escaped);
  gtk_stack_set_visible_child (GTK_STACK (self->stack), self->status);
}

static int64_t
find_item (const SpanChart *chart, uint32_t item)
{
  for (uint32_t i = 0; i < chart->n_spans; i++)
    if (chart->spans[i].item == item)
      return i;
  return -1;
}

static void
on_result (GtkWidget *widget, gpointer result, const GError *error)
{
  AppSpans *self = APP_SPANS (widget);
  const ChartSpan *at = app_spans_get_span (self);
  SpanChart *chart = result;
  g_autofree char *count = NULL;
  int64_t span;

  if (error != NULL)
    {
      show_status (self, _ ("Cannot Draw the Chart"), error->message);
      return;
    }
  span = at != NULL ? find_item (chart, at->item) : -1;
  app_span_picture_take_chart (&self->picture, chart);
  set_cursor (self, span);
  app_spans_area_update (APP_SPANS_AREA (self->area));
  count = g_strdup_printf (ngettext ("%u match", "%u matches", chart->n_spans), chart->n_spans);
  app_search_show_count (&self->search, count);
  if (chart->n_spans == 0)
    show_status (self, _ ("Nothing Here"),
                 _ ("The selected time, the filters and the search leave nothing to draw."));
  else
    gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "chart");
}

typedef struct
{
  const char *name; /* of the chart, static */
  int64_t begin, end;
  char *text; /* that spans must contain; owned */
} SpanQuery;

static void
span_query_free (gpointer data)
{
  g_free (((SpanQuery *) data)->text);
  g_free (data);
}

static gpointer
fill (const ViewRequest *request, gconstpointer input, GError **error)
{
  const SpanQuery *query = input;
  ViewRequest searching = *request;

  searching.search = query->text;
  return sysprof_span_chart_new (query->name, query->begin, query->end, &searching);
}

static const QueryKind query_kind = {
  .fill = fill,
  .free_input = span_query_free,
  .free_result = (GDestroyNotify) sysprof_span_chart_free,
  .follows_gestures = true,
};

static void
search (gpointer data)
{
  AppSpans *self = data;
  SpanQuery *query = g_new0 (SpanQuery, 1);

  *query = (SpanQuery){ self->name, self->picture.begin, self->picture.end,
                        g_strdup (app_search_get_text (&self->search)) };
  app_query_run (self->query, &query_kind, self->session, query);
}

static void
set_axis (AppSpans *self, int64_t begin, int64_t end)
{
  self->picked_begin = self->picked_end = 0;
  self->picture.begin = begin;
  self->picture.end = end;
  app_ruler_set_time (APP_RULER (self->ruler), begin, end);
  app_selection_layer_set_time (APP_SELECTION_LAYER (self->layer), begin, end);
  gtk_widget_queue_draw (self->area);
}

static void
refresh (AppSpans *self)
{
  const Focus *focus = app_session_get_focus (self->session);
  bool is_picked = self->picked_end > self->picked_begin &&
                   focus->selected_begin == self->picked_begin &&
                   focus->selected_end == MIN (self->picked_end, focus->duration);

  if (!is_picked || self->picture.chart == NULL)
    set_axis (self, focus->selected_begin, focus->selected_end);
  app_selection_layer_set_selection (APP_SELECTION_LAYER (self->layer), focus->selected_begin,
                                     focus->selected_end);
  search (self);
}

/* --- life --- */

static void
app_spans_dispose (GObject *object)
{
  AppSpans *self = APP_SPANS (object);

  g_clear_pointer (&self->query, app_query_free);
  if (self->session != NULL)
    g_signal_handlers_disconnect_by_data (self->session, self);
  while (gtk_widget_get_first_child (GTK_WIDGET (self)) != NULL)
    gtk_widget_unparent (gtk_widget_get_first_child (GTK_WIDGET (self)));
  g_clear_object (&self->session);
  G_OBJECT_CLASS (app_spans_parent_class)->dispose (object);
}

static void
app_spans_finalize (GObject *object)
{
  app_span_picture_clear (&APP_SPANS (object)->picture);
  G_OBJECT_CLASS (app_spans_parent_class)->finalize (object);
}

static void
app_spans_class_init (AppSpansClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = app_spans_dispose;
  G_OBJECT_CLASS (class)->finalize = app_spans_finalize;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  g_signal_new ("activated", APP_TYPE_SPANS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                G_TYPE_NONE, 1, G_TYPE_UINT);
  app_spans_class_add_actions (widget_class);
}

static void
add_controllers (AppSpans *self)
{
  GtkGesture *click = gtk_gesture_click_new ();
  GtkGesture *secondary = gtk_gesture_click_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  g_signal_connect (click, "released", G_CALLBACK (on_click), self);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (secondary), GDK_BUTTON_SECONDARY);
  g_signal_connect (secondary, "released", G_CALLBACK (on_secondary_click), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  g_signal_connect (self->area, "query-tooltip", G_CALLBACK (on_tooltip), self);
  gtk_widget_set_has_tooltip (self->area, TRUE);
  gtk_widget_add_controller (self->area, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (self->area, GTK_EVENT_CONTROLLER (secondary));
  gtk_widget_add_controller (self->area, keys);
}

static void
app_spans_init (AppSpans *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *scroller = gtk_scrolled_window_new (), *overlay = gtk_overlay_new ();
  GtkWidget *page = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  self->cursor_row = self->cursor_span = -1;
  self->query = app_query_new (GTK_WIDGET (self), on_result);
  app_span_picture_init (&self->picture);
  self->ruler = app_ruler_new ();
  gtk_widget_set_margin_start (self->ruler, SPAN_GUTTER);
  self->area = app_spans_area_new (&self->picture);
  g_signal_connect (self->area, "toggled", G_CALLBACK (on_toggled), self);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->area);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (box), self->ruler);
  gtk_box_append (GTK_BOX (box), scroller);
  self->layer = app_selection_layer_new ();
  gtk_overlay_set_child (GTK_OVERLAY (overlay), box);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), self->layer);
  app_time_drag_add (overlay, APP_SELECTION_LAYER (self->layer), &drag_class, self);
  self->status = adw_status_page_new ();
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), overlay, "chart");
  gtk_stack_add_named (GTK_STACK (self->stack), self->status, "status");
  gtk_widget_set_vexpand (self->stack, TRUE);
  gtk_box_append (GTK_BOX (page), self->stack);
  app_search_init (&self->search, search, self);
  gtk_box_append (GTK_BOX (page), self->search.bar);
  gtk_widget_set_parent (page, GTK_WIDGET (self));
  add_controllers (self);
}

GtkWidget *
app_spans_new (AppSession *session, const char *name, const char *title)
{
  AppSpans *self = g_object_new (APP_TYPE_SPANS, NULL);

  self->session = g_object_ref (session);
  self->name = name;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  title, -1);
  g_signal_connect_swapped (session, "selection-changed", G_CALLBACK (refresh), self);
  refresh (self);
  return GTK_WIDGET (self);
}
