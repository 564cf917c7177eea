// SPDX-License-Identifier: GPL-3.0-or-later

/* Counters as a list: the name, a small chart of the visible time, and figures of the selected
 * time, grouped by category. */

#include "app/charts/chart-export.h"
#include "app/charts/track.h"
#include "app/panes/panes.h"
#include "app/widgets/naming.h"
#include "app/widgets/search.h"
#include "text/text.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define N_BINS       400
#define NAME_LETTERS 22
#define FIGURE_WIDTH 76 /* px */
#define MOST_SHOWN   200

enum
{
  LAST,
  MIN_,
  MEAN,
  MAX_,
  UNIT,
  N_FIGURES,
};

static const char *const figure_titles[N_FIGURES] = {
  [LAST] = N_ ("Now"), [MIN_] = N_ ("Min"),  [MEAN] = N_ ("Mean"),
  [MAX_] = N_ ("Max"), [UNIT] = N_ ("Unit"),
};

typedef struct
{
  AppSession *session;
  AppQuery *query;
  const char *names[2];
  GtkWidget *page, *list, *note;
  GPtrArray *charts;                         /* of AppTrack */
  GtkWidget *figures[MOST_SHOWN][N_FIGURES]; /* labels */
  SharedTracks *tracks;
  AppSearch search;
} CounterList;

static void
counter_list_free (gpointer data)
{
  CounterList *self = data;

  g_signal_handlers_disconnect_by_data (self->session, self);
  app_query_free (self->query);
  g_clear_pointer (&self->tracks, app_shared_tracks_unref);
  g_ptr_array_unref (self->charts);
  g_object_unref (self->session);
  g_free (self);
}

static GtkWidget *
make_figure (const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_size_request (label, FIGURE_WIDTH, -1);
  gtk_widget_add_css_class (label, "numeric");
  gtk_widget_add_css_class (label, "caption");
  return label;
}

static GtkWidget *
make_name (const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_width_chars (GTK_LABEL (label), NAME_LETTERS);
  gtk_label_set_max_width_chars (GTK_LABEL (label), NAME_LETTERS);
  return label;
}

static GtkWidget *
make_row (void)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  gtk_widget_add_css_class (row, "counter");
  return row;
}

static char *
dup_figure (const Track *track, int figure, double value)
{
  bool has_prefix = app_track_has_prefix (track);

  if (figure == UNIT)
    return g_strdup (has_prefix ? "" : track->unit);
  if (track->series->selected.weight == 0)
    return g_strdup ("");
  return has_prefix ? app_track_dup_value (track, value) : sysprof_dup_real (value);
}

/* The category and the titles of the figures. */
static void
add_heading (CounterList *self, const Track *track)
{
  g_autofree char *text = track->is_constant
                              ? g_strdup_printf (_ ("%s (Never Changes)"), track->group)
                              : g_strdup (track->group);
  GtkWidget *row = make_row (), *name = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_widget_set_hexpand (name, TRUE);
  gtk_widget_add_css_class (name, "heading");
  gtk_box_append (GTK_BOX (row), name);
  for (int i = 0; i < N_FIGURES; i++)
    {
      GtkWidget *title = make_figure (_ (figure_titles[i]));

      gtk_widget_add_css_class (title, "dim-label");
      gtk_box_append (GTK_BOX (row), title);
    }
  gtk_box_append (GTK_BOX (self->list), row);
}

static void
add_counter (CounterList *self, uint32_t i)
{
  const Track *track = &self->tracks->set->tracks[i];
  GtkWidget *row = make_row (), *name = make_name (track->title);
  GtkWidget *chart = app_track_new (self->session);

  gtk_widget_set_tooltip_text (name, track->description[0] ? track->description : track->title);
  gtk_box_append (GTK_BOX (row), name);
  gtk_box_append (GTK_BOX (row), chart);
  g_ptr_array_add (self->charts, chart);
  for (int figure = 0; figure < N_FIGURES; figure++)
    {
      self->figures[i][figure] = make_figure ("");
      gtk_box_append (GTK_BOX (row), self->figures[i][figure]);
    }
  gtk_box_append (GTK_BOX (self->list), row);
}

static void
make_rows (CounterList *self)
{
  const TrackSet *set = self->tracks->set;
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (self->list)) != NULL)
    gtk_box_remove (GTK_BOX (self->list), child);
  g_ptr_array_set_size (self->charts, 0);
  if (set->n == 0)
    {
      GtkWidget *status = adw_status_page_new ();

      adw_status_page_set_title (ADW_STATUS_PAGE (status), _ ("Nothing to Show"));
      adw_status_page_set_description (
          ADW_STATUS_PAGE (status),
          _ ("No counter of this kind was recorded. The machine may not have any."));
      gtk_box_append (GTK_BOX (self->list), status);
    }
  for (uint32_t i = 0; i < MIN (set->n, MOST_SHOWN); i++)
    {
      if (i == 0 || set->tracks[i].is_constant != set->tracks[i - 1].is_constant ||
          !g_str_equal (set->tracks[i].group, set->tracks[i - 1].group))
        add_heading (self, &set->tracks[i]);
      add_counter (self, i);
    }
}

static void
show_values (CounterList *self)
{
  const Focus *focus = app_session_get_focus (self->session);

  for (guint i = 0; i < self->charts->len; i++)
    {
      const Track *track = &self->tracks->set->tracks[i];
      const TrackSeries *series = track->series;
      double values[N_FIGURES] = {
        [LAST] = series->selected.last,
        [MIN_] = series->selected.min,
        [MEAN] = series->selected.sum / series->selected.weight,
        [MAX_] = series->selected.max,
      };

      app_track_set_data (self->charts->pdata[i], self->tracks, i);
      app_track_set_visible_time (self->charts->pdata[i], focus->visible_begin,
                                  focus->visible_end);
      for (int figure = 0; figure < N_FIGURES; figure++)
        {
          g_autofree char *text = dup_figure (track, figure, values[figure]);

          gtk_label_set_text (GTK_LABEL (self->figures[i][figure]), text);
        }
    }
}

/* --- search --- */

static bool
contains (const char *text, const char *wanted)
{
  g_autofree char *folded = g_utf8_casefold (text, -1);

  return strstr (folded, wanted) != NULL;
}

/* Hides the rows whose name and category do not have the text. Headings stay. */
static void
apply_search (gpointer data)
{
  CounterList *self = data;
  g_autofree char *wanted = g_utf8_casefold (app_search_get_text (&self->search), -1);
  g_autofree char *count = NULL;
  guint n = 0;

  for (guint i = 0; i < self->charts->len; i++)
    {
      const Track *track = &self->tracks->set->tracks[i];
      bool fits = contains (track->title, wanted) || contains (track->group, wanted);

      gtk_widget_set_visible (gtk_widget_get_parent (self->charts->pdata[i]), fits);
      n += fits;
    }
  count = g_strdup_printf (ngettext ("%u counter", "%u counters", n), n);
  app_search_show_count (&self->search, count);
}

static void
find (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_search_open (&((CounterList *) data)->search);
}

static void
search_for (GSimpleAction *action, GVariant *text, gpointer data)
{
  app_search_for (&((CounterList *) data)->search, g_variant_get_string (text, NULL));
}

/* The keyboard goes to the next or previous chart that the search left. */
static void
step (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  CounterList *self = data;
  GtkDirectionType direction = g_str_equal (g_action_get_name (G_ACTION (action)), "next")
                                   ? GTK_DIR_TAB_FORWARD
                                   : GTK_DIR_TAB_BACKWARD;

  if (!gtk_widget_child_focus (self->list, direction))
    gtk_widget_child_focus (self->list, direction);
}

static void export(GSimpleAction *action, GVariant *parameter, gpointer data)
{
  app_chart_export (((CounterList *) data)->list, "counters");
}

static void
add_actions (CounterList *self)
{
  static const GActionEntry entries[] = {
    { "find", find },     { "search", search_for, "s" }, { "next", step },
    { "previous", step }, { "export", export },
  };
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();

  g_action_map_add_action_entries (G_ACTION_MAP (group), entries, G_N_ELEMENTS (entries), self);
  gtk_widget_insert_action_group (self->page, "view", G_ACTION_GROUP (group));
}

/* --- rows --- */

static bool
has_same_counters (const TrackSet *a, const TrackSet *b)
{
  if (a->n != b->n)
    return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!g_str_equal (a->tracks[i].title, b->tracks[i].title) ||
        a->tracks[i].is_constant != b->tracks[i].is_constant ||
        !g_str_equal (a->tracks[i].group, b->tracks[i].group))
      return false;
  return true;
}

static void
on_result (GtkWidget *page, gpointer result, const GError *error)
{
  CounterList *self = g_object_get_data (G_OBJECT (page), "counters");
  SharedTracks *before = self->tracks;
  g_autofree char *note = NULL;
  uint32_t n;

  if (error != NULL)
    return;
  self->tracks = app_shared_tracks_new (result);
  if (before == NULL || !has_same_counters (before->set, self->tracks->set))
    make_rows (self);
  show_values (self);
  n = self->tracks->set->n_left_out;
  note = g_strdup_printf (ngettext ("%u more counter is in the Counters Table.",
                                    "%u more counters are in the Counters Table.", n),
                          n);
  gtk_label_set_text (GTK_LABEL (self->note), note);
  gtk_widget_set_visible (self->note, n > 0);
  apply_search (self);
  g_clear_pointer (&before, app_shared_tracks_unref);
}

static void
refresh (CounterList *self)
{
  const Focus *focus = app_session_get_focus (self->session);
  TrackQuery *query;

  query = g_new0 (TrackQuery, 1);
  *query = (TrackQuery){ .names = self->names,
                         .begin = focus->visible_begin,
                         .end = focus->visible_end,
                         .n_bins = N_BINS,
                         .splits = true,
                         .selected_begin = focus->selected_begin,
                         .selected_end = focus->selected_end };
  app_query_run (self->query, &app_track_query_kind, self->session, query);
}

GtkWidget *
app_counters_new (AppSession *session, const SectionView *view)
{
  CounterList *self = g_new0 (CounterList, 1);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->session = g_object_ref (session);
  self->names[0] = view->query.track;
  self->charts = g_ptr_array_new ();
  self->page = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->list = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->note = gtk_label_new (NULL);
  app_set_name (self->list, _ (view->title));
  gtk_widget_add_css_class (self->note, "note");
  gtk_widget_hide (self->note);
  gtk_box_append (GTK_BOX (box), self->list);
  gtk_box_append (GTK_BOX (box), self->note);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), box);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (self->page), scroller);
  app_search_init (&self->search, apply_search, self);
  gtk_box_append (GTK_BOX (self->page), self->search.bar);
  add_actions (self);
  g_object_set_data_full (G_OBJECT (self->page), "counters", self, counter_list_free);
  self->query = app_query_new (self->page, on_result);
  g_signal_connect_swapped (session, "focus-changed", G_CALLBACK (refresh), self);
  refresh (self);
  return self->page;
}
