// SPDX-License-Identifier: GPL-3.0-or-later

/* The time scrubber. */

#include "app/charts/timeline.h"

#include "app/charts/time-drag.h"
#include "app/charts/timeline-layers.h"
#include "app/charts/track-title.h"
#include "app/charts/track.h"
#include "app/widgets/naming.h"

#include <glib/gi18n.h>
#include <string.h>

#define MOST_TRACKS 8   /* shown at first */
#define MOST_HEIGHT 240 /* px of all tracks */

struct _AppTimeline
{
  GtkWidget parent_instance;
  AppSession *session;
  AppQuery *query;
  const Focus *shown;       /* focus of the tracks; NULL = none yet */
  const char *const *names; /* of the section */
  GPtrArray *pins;          /* "name/title" of tracks that every section shows */
  SharedTracks *tracks;
  GtkWidget *overlay;
  GtkWidget *ruler;
  GtkWidget *layer;
  GtkWidget *rows; /* GtkBox */
  GtkWidget *zoom; /* the + button */
  GtkWidget *more;
  GPtrArray *track_widgets; /* of AppTrack */
  GArray *chosen;           /* of uint32_t: tracks in the order of their rows */
  bool shows_all;
  int width;        /* px of the plot */
  int filled_width; /* for which the tracks are or were filled */
  bool is_filling;
};

G_DEFINE_FINAL_TYPE (AppTimeline, app_timeline, GTK_TYPE_WIDGET)

static int
get_plot_width (AppTimeline *self)
{
  return MAX (gtk_widget_get_width (self->overlay) - TIMELINE_GUTTER, 1);
}

static Axis
get_axis (AppTimeline *self)
{
  const Focus *focus = app_session_get_focus (self->session);

  return (Axis){ focus->visible_begin, focus->visible_end, get_plot_width (self) };
}

/* --- rows of tracks --- */

/* "name/title" of a track. *(full)* */
static char *
dup_key (const Track *track)
{
  return g_strdup_printf ("%s/%s", track->name, track->title);
}

static bool
find_pin (AppTimeline *self, const char *key, guint *index)
{
  return g_ptr_array_find_with_equal_func (self->pins, key, g_str_equal, index);
}

/* Tracks may arrive when the section has changed to one without a timeline. */
static bool
is_of_section (const AppTimeline *self, const char *name)
{
  return self->names != NULL && g_strv_contains (self->names, name);
}

/* The tracks to show: those that are pinned, then those of the section. */
static void
choose_tracks (AppTimeline *self)
{
  const TrackSet *set = self->tracks->set;

  g_array_set_size (self->chosen, 0);
  for (guint pin = 0; pin <= self->pins->len; pin++)
    for (uint32_t i = 0; i < set->n; i++)
      {
        g_autofree char *key = dup_key (&set->tracks[i]);
        guint at;
        bool is_pinned = find_pin (self, key, &at);

        if (is_pinned ? at == pin
                      : pin == self->pins->len && is_of_section (self, set->tracks[i].name))
          g_array_append_val (self->chosen, i);
      }
}

static void
add_row (AppTimeline *self, guint place, const char *focused)
{
  uint32_t i = g_array_index (self->chosen, uint32_t, place);
  const Track *track = &self->tracks->set->tracks[i];
  const Focus *focus = app_session_get_focus (self->session);
  g_autofree char *key = dup_key (track);
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *widget = app_track_new (self->session);

  app_set_time_direction (row);
  app_track_set_data (APP_TRACK (widget), self->tracks, i);
  app_track_set_visible_time (APP_TRACK (widget), focus->visible_begin, focus->visible_end);
  gtk_box_append (GTK_BOX (row), app_track_title_new (self->session, track));
  gtk_box_append (GTK_BOX (row), widget);
  gtk_box_append (GTK_BOX (self->rows), row);
  g_ptr_array_add (self->track_widgets, widget);
  if (g_strcmp0 (key, focused) == 0)
    gtk_widget_grab_focus (widget);
}

/* The key of the track that has the keyboard; NULL = none. *(full)* */
static char *
dup_focused_key (AppTimeline *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;
  GtkWidget *track = focus != NULL ? gtk_widget_get_ancestor (focus, APP_TYPE_TRACK) : NULL;

  return track != NULL && gtk_widget_is_ancestor (track, GTK_WIDGET (self))
             ? dup_key (app_track_get_track (APP_TRACK (track)))
             : NULL;
}

static void
show_rows (AppTimeline *self)
{
  uint32_t n, n_shown;
  uint64_t hidden = 0, all = 0;
  g_autofree char *text = NULL, *focused = dup_focused_key (self);
  GtkWidget *child;

  choose_tracks (self);
  n = self->chosen->len;
  n_shown = self->shows_all ? n : MIN (n, MOST_TRACKS);
  for (guint i = 0; i < n; i++)
    {
      uint64_t activity =
          self->tracks->set->tracks[g_array_index (self->chosen, uint32_t, i)].activity;

      all += activity;
      hidden += i >= n_shown ? activity : 0;
    }

  g_ptr_array_set_size (self->track_widgets, 0);
  while ((child = gtk_widget_get_first_child (self->rows)) != NULL)
    gtk_box_remove (GTK_BOX (self->rows), child);
  for (uint32_t i = 0; i < n_shown; i++)
    add_row (self, i, focused);
  text = g_strdup_printf (ngettext ("Show %u More (%.0f %% of the events)",
                                    "Show %u More (%.0f %% of the events)", n - n_shown),
                          n - n_shown, 100.0 * (double) hidden / (double) MAX (all, 1));
  gtk_button_set_label (GTK_BUTTON (self->more), self->shows_all ? _ ("Show Fewer") : text);
  gtk_widget_set_visible (self->more, n > MOST_TRACKS);
}

/* Whether the rows have the titles that the tracks have. */
static bool
has_same_rows (AppTimeline *self, const TrackSet *set)
{
  const TrackSet *before = self->tracks != NULL ? self->tracks->set : NULL;

  if (before == NULL || before->n != set->n)
    return false;
  for (uint32_t i = 0; i < set->n; i++)
    if (!g_str_equal (before->tracks[i].title, set->tracks[i].title) ||
        before->tracks[i].source != set->tracks[i].source ||
        before->tracks[i].max != set->tracks[i].max ||
        before->tracks[i].activity != set->tracks[i].activity)
      return false;
  return true;
}

static void
fill (AppTimeline *self)
{
  const Focus *focus = app_session_get_focus (self->session);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  TrackQuery *query;

  if (self->names == NULL || self->names[0] == NULL || self->width <= 1)
    return;
  for (guint i = 0; self->names[i] != NULL; i++)
    g_ptr_array_add (names, (char *) self->names[i]);
  for (guint i = 0; i < self->pins->len; i++)
    {
      const char *key = self->pins->pdata[i];
      g_autofree char *name = g_strndup (key, strcspn (key, "/"));

      if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_ptr_array_add (names, (char *) g_intern_string (name));
    }
  g_ptr_array_add (names, NULL);
  query = g_malloc0 (sizeof *query + names->len * sizeof (char *));
  *query = (TrackQuery){ memcpy (query + 1, names->pdata, names->len * sizeof (char *)),
                         focus->visible_begin, focus->visible_end, (uint32_t) self->width };
  self->filled_width = self->width;
  self->is_filling = true;
  app_query_run (self->query, &app_track_query_kind, self->session, query);
}

static void
on_result (GtkWidget *widget, gpointer result, const GError *error)
{
  AppTimeline *self = APP_TIMELINE (widget);
  bool is_same;

  self->is_filling = false;
  if (error != NULL)
    return;
  is_same = has_same_rows (self, result);
  g_clear_pointer (&self->tracks, app_shared_tracks_unref);
  self->tracks = app_shared_tracks_new (result);
  if (!is_same)
    show_rows (self);
  else
    for (guint i = 0; i < self->track_widgets->len; i++)
      app_track_set_data (self->track_widgets->pdata[i], self->tracks,
                          g_array_index (self->chosen, uint32_t, i));
  if (self->filled_width != self->width)
    fill (self);
}

/* Asks for the tracks of the section and for those that are pinned. */

/* Whether tracks of one focus are those of the other. */
static bool
has_same_tracks (const Focus *a, const Focus *b)
{
  g_autoptr (Focus) copy = app_focus_copy (a);

  copy->selected_begin = b->selected_begin;
  copy->selected_end = b->selected_end;
  return a->visible_begin == b->visible_begin && a->visible_end == b->visible_end &&
         app_focus_only_moved (copy, b);
}

static void
on_focus_changed (AppTimeline *self)
{
  const Focus *focus = app_session_get_focus (self->session);

  app_ruler_set_time (APP_RULER (self->ruler), focus->visible_begin, focus->visible_end);
  app_selection_layer_set_time (APP_SELECTION_LAYER (self->layer), focus->visible_begin,
                                focus->visible_end);
  app_selection_layer_set_selection (APP_SELECTION_LAYER (self->layer), focus->selected_begin,
                                     focus->selected_end);
  gtk_widget_set_visible (self->zoom, focus->selected_begin > focus->visible_begin ||
                                          focus->selected_end < focus->visible_end);
  gtk_widget_queue_resize (self->overlay);
  for (guint i = 0; i < self->track_widgets->len; i++)
    app_track_set_visible_time (self->track_widgets->pdata[i], focus->visible_begin,
                                focus->visible_end);
  if (self->shown == NULL || !has_same_tracks (self->shown, focus))
    fill (self);
  g_clear_pointer (&self->shown, app_focus_unref);
  self->shown = app_focus_ref (focus);
}

void
app_timeline_set_tracks (AppTimeline *self, const char *const *tracks)
{
  if (self->names == tracks)
    return;
  self->names = tracks;
  self->shows_all = false;
  gtk_widget_set_visible (GTK_WIDGET (self), tracks != NULL && tracks[0] != NULL);
  fill (self);
}

/* --- pointer --- */

/* The track under a position of the overlay, and the position in it. */
static AppTrack *
find_track (AppTimeline *self, double x, double y, double *track_x, double *track_y)
{
  for (guint i = 0; i < self->track_widgets->len; i++)
    {
      GtkWidget *track = self->track_widgets->pdata[i];

      if (gtk_widget_translate_coordinates (self->overlay, track, x, y, track_x, track_y) &&
          gtk_widget_contains (track, *track_x, *track_y))
        return APP_TRACK (track);
    }
  return NULL;
}

/* "Marks – 1.2 ms (3.4 ms): gtk / layout" *(full)* */
static char *
dup_text_at (gpointer data, double x, double y)
{
  double track_x, track_y;
  AppTrack *track = find_track (data, x, y, &track_x, &track_y);
  g_autofree char *text =
      track != NULL ? app_track_dup_text_at (track, track_x, track_y) : NULL;

  return text != NULL ? g_strdup_printf ("%s – %s", app_track_get_track (track)->title, text)
                      : NULL;
}

/* A click: selects the event there, or all visible. */
static void
click (gpointer data, double x, double y)
{
  AppTimeline *self = data;
  const Focus *focus = app_session_get_focus (self->session);
  int64_t begin, end;
  double track_x, track_y;
  AppTrack *track = find_track (self, x, y, &track_x, &track_y);

  if (track != NULL)
    gtk_widget_grab_focus (GTK_WIDGET (track));
  if (track != NULL && app_track_find_span_at (track, track_x, track_y, &begin, &end))
    {
      if (end > begin && app_track_get_track (track)->kind == TRACK_SPANS)
        app_session_select (self->session, begin, end);
      else
        app_session_pick (self->session, begin);
    }
  else
    app_session_select (self->session, focus->visible_begin, focus->visible_end);
}

static Axis
get_drag_axis (gpointer data)
{
  return get_axis (data);
}

static void
get_selection (gpointer data, int64_t *begin, int64_t *end)
{
  const Focus *focus = app_session_get_focus (APP_TIMELINE (data)->session);

  *begin = focus->selected_begin;
  *end = focus->selected_end;
}

static void
select_time (gpointer data, int64_t begin, int64_t end)
{
  AppTimeline *self = data;

  app_session_select (self->session, begin, end);
  gtk_widget_grab_focus (self->zoom);
}

static void
zoom (gpointer data, double factor, int64_t at)
{
  app_session_zoom (APP_TIMELINE (data)->session, factor, at);
}

static void
pan (gpointer data, double widths)
{
  app_session_pan (APP_TIMELINE (data)->session, widths);
}

static const TimeDragClass drag_class = {
  .get_axis = get_drag_axis,
  .get_selection = get_selection,
  .select = select_time,
  .zoom = zoom,
  .pan = pan,
  .click = click,
  .dup_text = dup_text_at,
};

static void
on_zoom (AppTimeline *self)
{
  const Focus *focus = app_session_get_focus (self->session);

  app_session_zoom_to (self->session, focus->selected_begin, focus->selected_end);
}

/* Pins a track to the timeline of every section, or ends that. `step` moves it instead. */
static void
on_pin (GtkWidget *widget, const char *action, GVariant *parameter)
{
  AppTimeline *self = APP_TIMELINE (widget);
  const char *key;
  int step;
  guint at;

  g_variant_get (parameter, "(&si)", &key, &step);
  if (!find_pin (self, key, &at))
    g_ptr_array_add (self->pins, g_strdup (key));
  else if (step == 0)
    g_ptr_array_remove_index (self->pins, at);
  else if ((int) at + step >= 0 && at + step < self->pins->len)
    {
      char *moved = self->pins->pdata[at];

      self->pins->pdata[at] = self->pins->pdata[at + step];
      self->pins->pdata[at + step] = moved;
    }
  show_rows (self);
  fill (self);
}

static void
on_more (AppTimeline *self)
{
  self->shows_all = !self->shows_all;
  show_rows (self);
}

/* The + button is in the middle of the selection, the layer over the plot. */
static gboolean
place_overlay (GtkOverlay *overlay, GtkWidget *widget, GdkRectangle *area, AppTimeline *self)
{
  const Focus *focus = app_session_get_focus (self->session);
  Axis axis = get_axis (self);
  int64_t middle = focus->selected_begin / 2 + focus->selected_end / 2;
  GtkRequisition size;

  if (widget != self->zoom)
    return FALSE;
  gtk_widget_get_preferred_size (widget, NULL, &size);
  area->width = size.width;
  area->height = size.height;
  area->x = TIMELINE_GUTTER + (int) CLAMP (app_axis_get_x (&axis, middle) - size.width / 2, 0,
                                           MAX (axis.width - size.width, 0));
  area->y = MAX ((gtk_widget_get_height (GTK_WIDGET (overlay)) - size.height) / 2, 0);
  return TRUE;
}

/* --- life --- */

static void
app_timeline_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  AppTimeline *self = APP_TIMELINE (widget);
  int plot = MAX (width - TIMELINE_GUTTER, 1);

  gtk_widget_allocate (gtk_widget_get_first_child (widget), width, height, baseline, NULL);
  /* While a panel opens, the width changes with each frame: finish one, then the last. */
  self->width = plot;
  if (plot != self->filled_width && !self->is_filling)
    fill (self);
}

static void
app_timeline_measure (GtkWidget *widget,
                      GtkOrientation orientation,
                      int for_size,
                      int *minimum,
                      int *natural,
                      int *minimum_baseline,
                      int *natural_baseline)
{
  gtk_widget_measure (gtk_widget_get_first_child (widget), orientation, for_size, minimum,
                      natural, NULL, NULL);
}

static void
app_timeline_dispose (GObject *object)
{
  AppTimeline *self = APP_TIMELINE (object);
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self));

  g_clear_pointer (&self->query, app_query_free);
  if (self->session != NULL)
    g_signal_handlers_disconnect_by_data (self->session, self);
  g_clear_pointer (&self->track_widgets, g_ptr_array_unref);
  g_clear_pointer (&self->chosen, g_array_unref);
  g_clear_pointer (&self->pins, g_ptr_array_unref);
  g_clear_pointer (&child, gtk_widget_unparent);
  g_clear_pointer (&self->shown, app_focus_unref);
  g_clear_pointer (&self->tracks, app_shared_tracks_unref);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (app_timeline_parent_class)->dispose (object);
}

static void
app_timeline_class_init (AppTimelineClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = app_timeline_dispose;
  widget_class->size_allocate = app_timeline_size_allocate;
  widget_class->measure = app_timeline_measure;
  gtk_widget_class_set_css_name (widget_class, "timeline");
  gtk_widget_class_install_action (widget_class, "timeline.pin", "(si)", on_pin);
}

static GtkWidget *
make_content (AppTimeline *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *gutter = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *inner = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  app_set_time_direction (head);
  gtk_widget_set_size_request (gutter, TIMELINE_GUTTER, -1);
  gtk_box_append (GTK_BOX (head), gutter);
  gtk_box_append (GTK_BOX (head), self->ruler);
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (inner), self->rows);
  gtk_box_append (GTK_BOX (inner), self->more);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), inner);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scroller), MOST_HEIGHT);
  gtk_box_append (GTK_BOX (box), scroller);
  return box;
}

static void
app_timeline_init (AppTimeline *self)
{
  self->query = app_query_new (GTK_WIDGET (self), on_result);
  self->track_widgets = g_ptr_array_new ();
  self->chosen = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  self->pins = g_ptr_array_new_with_free_func (g_free);
  self->ruler = app_ruler_new ();
  self->layer = app_selection_layer_new ();
  self->rows = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->more = gtk_button_new ();
  gtk_button_set_has_frame (GTK_BUTTON (self->more), FALSE);
  gtk_widget_hide (self->more);
  g_signal_connect_swapped (self->more, "clicked", G_CALLBACK (on_more), self);
  self->zoom = gtk_button_new_from_icon_name ("list-add-symbolic");
  gtk_widget_set_tooltip_text (self->zoom, _ ("Zoom to Selection"));
  app_set_name (GTK_WIDGET (self->zoom), _ ("Zoom to Selection"));
  gtk_widget_add_css_class (self->zoom, "circular");
  gtk_widget_add_css_class (self->zoom, "osd");
  gtk_widget_hide (self->zoom);
  g_signal_connect_swapped (self->zoom, "clicked", G_CALLBACK (on_zoom), self);

  self->overlay = gtk_overlay_new ();
  gtk_overlay_set_child (GTK_OVERLAY (self->overlay), make_content (self));
  gtk_overlay_add_overlay (GTK_OVERLAY (self->overlay), self->layer);
  gtk_overlay_add_overlay (GTK_OVERLAY (self->overlay), self->zoom);
  g_signal_connect (self->overlay, "get-child-position", G_CALLBACK (place_overlay), self);
  gtk_widget_set_parent (self->overlay, GTK_WIDGET (self));
  app_time_drag_add (self->overlay, APP_SELECTION_LAYER (self->layer), &drag_class, self);
}

GtkWidget *
app_timeline_new (AppSession *session)
{
  AppTimeline *self = g_object_new (APP_TYPE_TIMELINE, NULL);

  self->session = g_object_ref (session);
  g_signal_connect_swapped (session, "focus-changed", G_CALLBACK (on_focus_changed), self);
  on_focus_changed (self);
  return GTK_WIDGET (self);
}
