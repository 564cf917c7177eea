// SPDX-License-Identifier: GPL-3.0-or-later

/* One track of the timeline. */

#include "app/charts/track.h"

#include "app/charts/chart-export.h"
#include "app/charts/cursor.h"
#include "app/charts/timeline.h"
#include "app/widgets/naming.h"
#include "app/widgets/row-menu.h"
#include "render/render.h"
#include "text/text.h"

#include <glib/gi18n.h>
#include <math.h>

#define HEIGHT         32 /* px */
#define LANE_HEIGHT    10
#define MOVE_MODIFIERS (GDK_CONTROL_MASK | GDK_SHIFT_MASK)
#define NEAR           4 /* px around the pointer in which an instant is hit */

struct _AppTrack
{
  GtkWidget parent_instance;
  AppSession *session;
  SharedTracks *tracks;
  uint32_t index;
  int64_t begin, end; /* visible time */
  AppCursor *cursor;
  int64_t cursor_at; /* number of the span or bin; -1 = none */
};

G_DEFINE_FINAL_TYPE (AppTrack, app_track, GTK_TYPE_WIDGET)

static gpointer
fill (const ViewRequest *request, gconstpointer query, GError **error)
{
  return sysprof_tracks_new (query, request);
}

const QueryKind app_track_query_kind = {
  .fill = fill,
  .free_input = g_free,
  .free_result = (GDestroyNotify) sysprof_tracks_free,
  .follows_gestures = true,
};

SharedTracks *
app_shared_tracks_new (TrackSet *set)
{
  SharedTracks *self = g_new0 (SharedTracks, 1);

  g_ref_count_init (&self->n_references);
  self->set = set;
  return self;
}

SharedTracks *
app_shared_tracks_ref (SharedTracks *self)
{
  g_ref_count_inc (&self->n_references);
  return self;
}

void
app_shared_tracks_unref (SharedTracks *self)
{
  if (!g_ref_count_dec (&self->n_references))
    return;
  sysprof_tracks_free (self->set);
  g_free (self);
}

const Track *
app_track_get_track (AppTrack *self)
{
  return self->tracks != NULL ? &self->tracks->set->tracks[self->index] : NULL;
}

static Axis
get_axis (AppTrack *self)
{
  return (Axis){ self->begin, self->end, gtk_widget_get_width (GTK_WIDGET (self)) };
}

static bool
has_spans (const Track *track)
{
  return track->kind == TRACK_SPANS || track->kind == TRACK_TICKS;
}

/* The span at a position, or the nearest one within some pixels; -1 if there is none. */
static int64_t
find_span (AppTrack *self, double x, double y)
{
  const Track *track = app_track_get_track (self);
  Axis axis = get_axis (self);
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  uint32_t lane = (uint32_t) MAX (y / MAX (height / (int) track->n_lanes, 2), 0);
  int64_t found = -1;
  double nearest = NEAR;

  for (uint32_t i = 0; i < track->n_spans; i++)
    {
      const TrackSpan *span = &track->spans[i];
      double begin = app_axis_get_x (&axis, span->begin);
      double end = MAX (app_axis_get_x (&axis, span->end), begin + 1);
      double distance = x < begin ? begin - x : x > end ? x - end : 0;

      if (span->lane == lane && distance < nearest)
        {
          nearest = distance;
          found = i;
        }
    }
  return found;
}

static uint32_t
find_bin (AppTrack *self, double x)
{
  const TrackSet *set = self->tracks->set;
  Axis axis = get_axis (self);
  double share = (double) (app_axis_get_time (&axis, x) - set->begin) /
                 (double) MAX (set->end - set->begin, 1);

  return (uint32_t) (CLAMP (share, 0, 0.999999) * set->n_bins);
}

bool
app_track_has_prefix (const Track *track)
{
  static const char *const units[] = { "bytes", "bytes/s", "ns", "ns/s", "uAh", NULL };

  return g_strv_contains (units, track->unit);
}

char *
app_track_dup_value (const Track *track, double value)
{
  Column column = { "value", "", COLUMN_REAL };
  g_autofree char *text = NULL;

  if (track->is_mirrored)
    value = fabs (value);
  if (app_track_has_prefix (track))
    return sysprof_dup_quantity (value, track->unit);
  text = sysprof_dup_cell (&column, (Cell){ .real = value });
  return g_strdup_printf ("%s%s%s", text, track->unit[0] ? " " : "", track->unit);
}

/* "CPU 0: 34 %, CPU 1: 12 %"; NULL if the bin has no values. *(full)* */
static char *
dup_text_of_bin (AppTrack *self, uint32_t bin)
{
  const Track *track = app_track_get_track (self);
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < track->n_series; i++)
    {
      const TrackSeries *series = &track->series[i];
      double base = track->n_series > 1 && track->kind == TRACK_AREA ? series->least[bin] : 0;
      g_autofree char *value = NULL;

      if (!isfinite (series->most[bin]))
        continue;
      value = app_track_dup_value (track, series->most[bin] - base);
      g_string_append_printf (text, "%s%s: %s", text->len > 0 ? ", " : "", series->title,
                              value);
    }
  return g_string_free (text, text->len == 0);
}

static char *
dup_text_of_span (AppTrack *self, int64_t i)
{
  const Track *track = app_track_get_track (self);
  const TrackSpan *span = &track->spans[i];
  g_autofree char *text =
      sysprof_track_dup_text (track, app_session_get_store (self->session), span->item);

  if (span->n == 1)
    return g_steal_pointer (&text);
  return g_strdup_printf (ngettext ("%s, and %u more", "%s, and %u more", span->n - 1), text,
                          span->n - 1);
}

char *
app_track_dup_text_at (AppTrack *self, double x, double y)
{
  const Track *track = app_track_get_track (self);
  int64_t span;

  if (track == NULL)
    return NULL;
  if (!has_spans (track) &&
      (track->n_spans == 0 ||
       y < gtk_widget_get_height (GTK_WIDGET (self)) - TRACK_STRIP_HEIGHT))
    return dup_text_of_bin (self, find_bin (self, x));
  if (!has_spans (track))
    y = 0; /* the strip is one lane */
  span = find_span (self, x, y);
  return span >= 0 ? dup_text_of_span (self, span) : NULL;
}

bool
app_track_find_span_at (AppTrack *self, double x, double y, int64_t *begin, int64_t *end)
{
  const Track *track = app_track_get_track (self);
  int64_t span = track != NULL && has_spans (track) ? find_span (self, x, y) : -1;

  if (span < 0)
    return false;
  *begin = track->spans[span].begin;
  *end = track->spans[span].end;
  return true;
}

/* --- cursor --- */

static int64_t
time_of_cursor (AppTrack *self, int64_t at, int64_t *end)
{
  const TrackSet *set = self->tracks->set;
  const Track *track = app_track_get_track (self);

  if (has_spans (track))
    {
      *end = track->spans[at].end;
      return track->spans[at].begin;
    }
  *end = set->begin + (set->end - set->begin) * (at + 1) / set->n_bins;
  return set->begin + (set->end - set->begin) * at / set->n_bins;
}

static void
move_cursor (AppTrack *self, int64_t at)
{
  Axis axis = get_axis (self);
  int64_t end, begin = time_of_cursor (self, at, &end);
  int x = (int) CLAMP (app_axis_get_x (&axis, begin), 0, axis.width);
  int right = (int) CLAMP (app_axis_get_x (&axis, end), 0, axis.width);
  GdkRectangle area = { x, 0, MAX (right - x, 2), gtk_widget_get_height (GTK_WIDGET (self)) };
  g_autofree char *what = has_spans (app_track_get_track (self))
                              ? dup_text_of_span (self, at)
                              : dup_text_of_bin (self, (uint32_t) at);
  g_autofree char *time = app_axis_dup_exact (&axis, begin);
  g_autofree char *text = g_strdup_printf ("%s, %s", time, what != NULL ? what : "");

  self->cursor_at = at;
  app_cursor_move (self->cursor, &area, text);
}

/* The next item in a direction that has something to say. */
static int64_t
find_next (AppTrack *self, int64_t at, int step)
{
  const Track *track = app_track_get_track (self);
  int64_t n = has_spans (track) ? track->n_spans : self->tracks->set->n_bins;

  for (at += step; at >= 0 && at < n; at += step)
    {
      if (has_spans (track))
        return at;
      for (uint32_t i = 0; i < track->n_series; i++)
        if (isfinite (track->series[i].most[at]))
          return at;
    }
  return -1;
}

static void
extend_selection (AppTrack *self, int step)
{
  Focus *focus = app_session_copy_focus (self->session);
  int64_t by = (focus->visible_end - focus->visible_begin) / 50 * step;
  int64_t from = self->cursor_at, end, begin;

  if (app_focus_selects_all (focus) && from >= 0)
    {
      begin = time_of_cursor (self, from, &end);
      app_focus_select (focus, begin, begin + by);
    }
  else
    app_focus_select (focus, focus->selected_begin, focus->selected_end + by);
  app_session_push (self->session, focus);
}

static void
set_edge (AppTrack *self, bool is_begin)
{
  Focus *focus = app_session_copy_focus (self->session);
  int64_t end, begin = time_of_cursor (self, self->cursor_at, &end);

  if (is_begin)
    app_focus_select (focus, begin, MAX (focus->selected_end, begin + 1));
  else
    app_focus_select (focus, MIN (focus->selected_begin, end - 1), end);
  app_session_push (self->session, focus);
}

/* Pins the track to the timeline, or moves it there. False in other places. */
static bool
pin (AppTrack *self, int step)
{
  const Track *track = app_track_get_track (self);
  g_autofree char *key = g_strdup_printf ("%s/%s", track->name, track->title);

  return gtk_widget_activate_action (GTK_WIDGET (self), "timeline.pin", "(si)", key, step);
}

static void
on_pin (GtkWidget *widget, const char *name, GVariant *parameter)
{
  pin (APP_TRACK (widget), 0);
}

/* The picture has the title beside the track. */
static void
on_export (GtkWidget *widget, const char *name, GVariant *parameter)
{
  app_chart_export (gtk_widget_get_parent (widget),
                    app_track_get_track (APP_TRACK (widget))->title);
}

static void
show_menu (AppTrack *self, double x, double y)
{
  GtkWidget *timeline = gtk_widget_get_ancestor (GTK_WIDGET (self), APP_TYPE_TIMELINE);
  g_autoptr (GMenu) menu = g_menu_new ();

  if (timeline != NULL)
    g_menu_append (menu, _ ("_Pin or Unpin"), "track.pin");
  g_menu_append (menu, _ ("_Export Chart…"), "track.export");
  app_row_menu_popup (GTK_WIDGET (self), NULL, 0, G_MENU_MODEL (menu), x, y);
}

static void
on_secondary_click (GtkGestureClick *gesture, int n, double x, double y, AppTrack *self)
{
  show_menu (self, x, y);
}

static void
on_menu (GtkWidget *widget, const char *name, GVariant *parameter)
{
  show_menu (APP_TRACK (widget), 0, 0);
}

static gboolean
on_key (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType state,
        AppTrack *self)
{
  const Track *track = app_track_get_track (self);
  int64_t at = -1, end, begin;
  bool is_back = key == GDK_KEY_Left || key == GDK_KEY_comma;
  bool is_step = is_back || key == GDK_KEY_Right || key == GDK_KEY_period;
  int step = is_back || key == GDK_KEY_End ? -1 : 1;

  if (track != NULL && (key == GDK_KEY_Up || key == GDK_KEY_Down) &&
      (state & MOVE_MODIFIERS) == MOVE_MODIFIERS)
    return pin (self, key == GDK_KEY_Up ? -1 : 1);
  if (track == NULL || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return FALSE;
  if (key == GDK_KEY_p)
    return pin (self, 0);
  if (key == GDK_KEY_z)
    return gtk_widget_activate_action (GTK_WIDGET (self), "win.zoom-selection", NULL);
  if (is_step && (state & GDK_SHIFT_MASK) != 0)
    {
      extend_selection (self, step);
      return TRUE;
    }
  if (is_step)
    at = find_next (self, self->cursor_at, self->cursor_at < 0 ? 1 : step);
  else if (key == GDK_KEY_Home)
    at = find_next (self, -1, 1);
  else if (key == GDK_KEY_End)
    at = find_next (self, has_spans (track) ? track->n_spans : self->tracks->set->n_bins, -1);
  if (at >= 0)
    move_cursor (self, at);
  if (at >= 0 || is_step)
    return TRUE;
  if (self->cursor_at < 0)
    return FALSE;
  begin = time_of_cursor (self, self->cursor_at, &end);
  if (key == GDK_KEY_Return)
    app_session_zoom_to (self->session, begin, end);
  else if (key == GDK_KEY_i || key == GDK_KEY_o)
    set_edge (self, key == GDK_KEY_i);
  else
    return FALSE;
  return TRUE;
}

/* --- widget --- */

static void
app_track_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AppTrack *self = APP_TRACK (widget);
  const Track *track = app_track_get_track (self);
  Axis axis = get_axis (self);
  GdkRGBA color;

  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  if (track != NULL && axis.width > 0)
    app_track_draw (self->tracks->set, track, &axis, gtk_widget_get_height (widget), &color,
                    snapshot);
  GTK_WIDGET_CLASS (app_track_parent_class)->snapshot (widget, snapshot);
}

static void
app_track_measure (GtkWidget *widget,
                   GtkOrientation orientation,
                   int for_size,
                   int *minimum,
                   int *natural,
                   int *minimum_baseline,
                   int *natural_baseline)
{
  const Track *track = app_track_get_track (APP_TRACK (widget));
  int height = track != NULL && track->kind == TRACK_SPANS
                   ? MAX (HEIGHT, LANE_HEIGHT * (int) track->n_lanes)
                   : HEIGHT;

  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 10 : height;
}

static void
app_track_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  app_cursor_allocate (APP_TRACK (widget)->cursor);
}

static void
app_track_dispose (GObject *object)
{
  AppTrack *self = APP_TRACK (object);

  g_clear_pointer (&self->cursor, app_cursor_free);
  while (gtk_widget_get_first_child (GTK_WIDGET (object)) != NULL) /* the menu */
    gtk_widget_unparent (gtk_widget_get_first_child (GTK_WIDGET (object)));
  g_clear_pointer (&self->tracks, app_shared_tracks_unref);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (app_track_parent_class)->dispose (object);
}

static void
app_track_class_init (AppTrackClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = app_track_dispose;
  widget_class->snapshot = app_track_snapshot;
  widget_class->measure = app_track_measure;
  widget_class->size_allocate = app_track_size_allocate;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LIST);
  gtk_widget_class_set_css_name (widget_class, "track");
  gtk_widget_class_install_action (widget_class, "track.pin", NULL, on_pin);
  gtk_widget_class_install_action (widget_class, "track.export", NULL, on_export);
  gtk_widget_class_install_action (widget_class, "track.menu", NULL, on_menu);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_F10, GDK_SHIFT_MASK, "track.menu",
                                       NULL);
}

static void
app_track_init (AppTrack *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkGesture *secondary = gtk_gesture_click_new ();

  self->cursor = app_cursor_new (GTK_WIDGET (self));
  self->cursor_at = -1;
  self->end = 1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (secondary), GDK_BUTTON_SECONDARY);
  g_signal_connect (secondary, "released", G_CALLBACK (on_secondary_click), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (secondary));
}

GtkWidget *
app_track_new (AppSession *session)
{
  AppTrack *self = g_object_new (APP_TYPE_TRACK, NULL);

  self->session = g_object_ref (session);
  return GTK_WIDGET (self);
}

void
app_track_set_data (AppTrack *self, SharedTracks *tracks, uint32_t index)
{
  const Track *track = &tracks->set->tracks[index];

  app_shared_tracks_ref (tracks);
  g_clear_pointer (&self->tracks, app_shared_tracks_unref);
  self->tracks = tracks;
  self->index = index;
  self->cursor_at = -1;
  app_set_name (GTK_WIDGET (self), track->title);
  gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
app_track_set_visible_time (AppTrack *self, int64_t begin, int64_t end)
{
  self->begin = begin;
  self->end = MAX (end, begin + 1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
