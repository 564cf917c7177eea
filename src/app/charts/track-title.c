// SPDX-License-Identifier: GPL-3.0-or-later

/* Titles of the rows of the timeline. */

#include "app/charts/track-title.h"

#include "app/charts/palette.h"
#include "app/charts/timeline-layers.h"
#include "app/charts/track.h"

#include <glib/gi18n.h>
#include <math.h>

static char *
dup_scale (const Track *track)
{
  g_autofree char *max = NULL, *min = NULL;

  if (track->kind == TRACK_SPANS || track->kind == TRACK_TICKS)
    return g_strdup_printf ("%" G_GUINT64_FORMAT, track->activity);
  max = app_track_dup_value (track, track->max);
  if (track->is_mirrored)
    {
      min = app_track_dup_value (track, track->min);
      return g_strdup_printf ("↑ %s ↓ %s", max, min);
    }
  min = track->min < 0 ? app_track_dup_value (track, track->min) : g_strdup ("0");
  return g_strdup_printf ("%s – %s", min, max);
}

/* --- figures of the selected time --- */

/* "RX: 0 to 5 MB/s, mean 3 MB/s", or "Layout: 12 %" where a bin has a sum. The only bin of the
 * track is the selected time. *(full)* */
static char *
dup_figures (const Track *track)
{
  GString *text = g_string_new (track->title);

  for (uint32_t i = 0; i < track->n_series; i++)
    {
      const TrackSeries *series = &track->series[i];
      bool is_out = track->is_mirrored && series->selected.min < 0;
      double weight = series->selected.weight;
      g_autofree char *min = app_track_dup_value (track, series->selected.min);
      g_autofree char *mean = app_track_dup_value (track, series->selected.sum / weight);
      g_autofree char *max = app_track_dup_value (track, series->selected.max);
      g_autofree char *sum = app_track_dup_value (track, *series->most - *series->least);

      if (weight > 0)
        g_string_append_printf (text, _ ("\n%s: %s to %s, mean %s"), series->title,
                                is_out ? max : min, is_out ? min : max, mean);
      else if (isfinite (*series->most))
        g_string_append_printf (text, _ ("\n%s: %s"), series->title, sum);
    }
  return g_string_free (text, FALSE);
}

typedef struct
{
  AppSession *session;
  AppQuery *query;
  const char *name; /* static: that of the source of the track */
  char *title;
} Figures;

static void
figures_free (gpointer data)
{
  Figures *self = data;

  app_query_free (self->query);
  g_object_unref (self->session);
  g_free (self->title);
  g_free (self);
}

static void
on_figures (GtkWidget *box, gpointer result, const GError *error)
{
  const Figures *self = g_object_get_data (G_OBJECT (box), "figures");
  TrackSet *set = result;

  for (uint32_t i = 0; set != NULL && i < set->n; i++)
    if (g_str_equal (set->tracks[i].title, self->title))
      {
        g_autofree char *figures = dup_figures (&set->tracks[i]);

        gtk_widget_set_tooltip_text (box, figures);
        gtk_accessible_update_property (GTK_ACCESSIBLE (box),
                                        GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, figures, -1);
      }
  g_clear_pointer (&set, sysprof_tracks_free);
}

/* Computes the figures only for people who point at the title: that takes one pass over the
 * events of the selected time. */
static void
on_enter (GtkEventController *controller, double x, double y, Figures *self)
{
  const Focus *focus = app_session_get_focus (self->session);
  TrackQuery *query = g_malloc0 (sizeof *query + 2 * sizeof (char *));
  const char **names = (const char **) (query + 1);

  names[0] = self->name;
  *query = (TrackQuery){ .names = names,
                         .begin = focus->selected_begin,
                         .end = focus->selected_end,
                         .n_bins = 1,
                         .selected_begin = focus->selected_begin,
                         .selected_end = focus->selected_end };
  app_query_run (self->query, &app_track_query_kind, self->session, query);
}

static void
add_figures (GtkWidget *box, AppSession *session, const Track *track)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  Figures *self = g_new (Figures, 1);

  *self = (Figures){ g_object_ref (session), app_query_new (box, on_figures), track->name,
                     g_strdup (track->title) };
  g_object_set_data_full (G_OBJECT (box), "figures", self, figures_free);
  gtk_widget_set_tooltip_text (box, track->title);
  g_signal_connect (motion, "enter", G_CALLBACK (on_enter), self);
  gtk_widget_add_controller (box, motion);
}

/* --- title --- */

/* "■ RX ■ TX" in the colors of the series; NULL if there is nothing to tell apart. */
static GtkWidget *
make_legend (const Track *track)
{
  g_autoptr (GString) markup = g_string_new (NULL);
  GtkWidget *label;

  if (track->kind != TRACK_LINE || track->n_series < 2)
    return NULL;
  for (uint32_t i = 0; i < track->n_series; i++)
    {
      g_autofree char *name = g_markup_escape_text (track->series[i].title, -1);
      GdkRGBA color;

      app_palette_get_series (i, app_palette_is_dark (), &color);
      g_string_append_printf (markup, "<span foreground=\"#%02x%02x%02x\">■</span> %s  ",
                              (unsigned) (color.red * 255), (unsigned) (color.green * 255),
                              (unsigned) (color.blue * 255), name);
    }
  label = gtk_label_new (NULL);
  app_set_time_direction (label);
  gtk_label_set_markup (GTK_LABEL (label), markup->str);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 1);
  gtk_widget_add_css_class (label, "caption");
  return label;
}

GtkWidget *
app_track_title_new (AppSession *session, const Track *track)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *title = gtk_label_new (track->title);
  g_autofree char *scale = dup_scale (track);
  GtkWidget *legend = make_legend (track);
  GtkWidget *unit = gtk_label_new (scale);

  gtk_widget_set_size_request (box, TIMELINE_GUTTER, -1);
  gtk_widget_set_hexpand (box, FALSE); /* the titles expand within it only */
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (box, "track-title");
  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_END);
  app_set_time_direction (title);
  app_set_time_direction (unit);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_label_set_max_width_chars (GTK_LABEL (title), 1);
  gtk_widget_set_hexpand (title, TRUE);
  add_figures (box, session, track);
  gtk_label_set_xalign (GTK_LABEL (unit), 0);
  gtk_label_set_ellipsize (GTK_LABEL (unit), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (unit, "dim-label");
  gtk_widget_add_css_class (unit, "caption");
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), unit);
  if (legend != NULL)
    gtk_box_append (GTK_BOX (box), legend);
  return box;
}
