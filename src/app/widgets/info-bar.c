// SPDX-License-Identifier: GPL-3.0-or-later

/* The bar of failures. */

#include "app/widgets/info-bar.h"

#include <glib/gi18n.h>

#define MOST_HEIGHT 160 /* px */

static void
on_response (GtkInfoBar *bar, int response, gpointer data)
{
  gtk_info_bar_set_revealed (bar, FALSE);
}

/* GTK does not name the button that closes the bar. */
static void
name_close_button (GtkWidget *top)
{
  for (GtkWidget *at = gtk_widget_get_first_child (top); at != NULL;
       at = gtk_widget_get_next_sibling (at))
    {
      if (GTK_IS_BUTTON (at))
        gtk_accessible_update_property (GTK_ACCESSIBLE (at), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                        _ ("Close"), -1);
      name_close_button (at);
    }
}

GtkWidget *
app_info_bar_new (void)
{
  GtkWidget *bar = gtk_info_bar_new ();
  GtkWidget *label = gtk_label_new (NULL);
  GtkWidget *scroller = gtk_scrolled_window_new ();

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_hexpand (scroller, TRUE);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scroller), MOST_HEIGHT);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), label);
  gtk_info_bar_add_child (GTK_INFO_BAR (bar), scroller);
  gtk_info_bar_set_show_close_button (GTK_INFO_BAR (bar), TRUE);
  gtk_info_bar_set_revealed (GTK_INFO_BAR (bar), FALSE);
  name_close_button (bar);
  g_object_set_data (G_OBJECT (bar), "label", label);
  g_signal_connect (bar, "response", G_CALLBACK (on_response), NULL);
  return bar;
}

void
app_info_bar_show (GtkWidget *bar, GtkMessageType type, const char *text)
{
  GtkLabel *label = g_object_get_data (G_OBJECT (bar), "label");

  if (text != NULL)
    {
      gtk_label_set_text (label, text);
      gtk_info_bar_set_message_type (GTK_INFO_BAR (bar), type);
    }
  gtk_info_bar_set_revealed (GTK_INFO_BAR (bar), text != NULL);
}
