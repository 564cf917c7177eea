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

/* Names and figures of the series, for people who point at the title. *(full)* */
static char *
dup_figures (const Track *track)
{
  GString *text = g_string_new (track->title);

  for (uint32_t i = 0; i < track->n_series; i++)
    {
      const TrackSeries *series = &track->series[i];
      g_autofree char *min = app_track_dup_value (track, series->min);
      g_autofree char *mean = app_track_dup_value (track, series->mean);
      g_autofree char *max = app_track_dup_value (track, series->max);

      if (isfinite (series->max))
        g_string_append_printf (text, _ ("\n%s: %s to %s, mean %s"), series->title, min, max,
                                mean);
    }
  return g_string_free (text, FALSE);
}

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
app_track_title_new (const Track *track)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *title = gtk_label_new (track->title);
  g_autofree char *scale = dup_scale (track);
  g_autofree char *figures = dup_figures (track);
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
  gtk_widget_set_tooltip_text (box, figures);
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
