// SPDX-License-Identifier: GPL-3.0-or-later

/* Search bars. */

#include "app/widgets/search.h"

#include "app/widgets/naming.h"

#include <glib/gi18n.h>

#define LEAST_LETTERS 5 /* fit in narrow windows */

static void
on_mode (GtkSearchBar *bar, GParamSpec *spec, AppSearch *self)
{
  if (!gtk_search_bar_get_search_mode (bar) && !self->is_lasting)
    gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
}

static GtkWidget *
make_step (const char *icon, const char *title, const char *action)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_tooltip_text (button, title);
  app_set_name (button, title);
  return button;
}

void
app_search_init (AppSearch *self, void (*changed) (gpointer data), gpointer data)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  self->bar = gtk_search_bar_new ();
  self->entry = gtk_search_entry_new ();
  self->count = gtk_label_new (NULL);
  gtk_widget_set_hexpand (self->entry, TRUE);
  gtk_editable_set_width_chars (GTK_EDITABLE (self->entry), LEAST_LETTERS);
  gtk_widget_set_hexpand (row, TRUE);
  gtk_widget_add_css_class (self->count, "dim-label");
  app_set_name (self->entry, _ ("Search"));
  gtk_box_append (GTK_BOX (row), self->entry);
  gtk_box_append (GTK_BOX (row), self->count);
  gtk_box_append (GTK_BOX (row),
                  make_step ("go-up-symbolic", _ ("Previous Match"), "view.previous"));
  gtk_box_append (GTK_BOX (row), make_step ("go-down-symbolic", _ ("Next Match"), "view.next"));
  gtk_search_bar_set_child (GTK_SEARCH_BAR (self->bar), row);
  gtk_search_bar_connect_entry (GTK_SEARCH_BAR (self->bar), GTK_EDITABLE (self->entry));
  g_signal_connect (self->bar, "notify::search-mode-enabled", G_CALLBACK (on_mode), self);
  g_signal_connect_swapped (self->entry, "search-changed", G_CALLBACK (changed), data);
}

void
app_search_add_button (AppSearch *self, const char *title, const char *action)
{
  GtkWidget *button = gtk_button_new_with_label (title);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  gtk_box_append (GTK_BOX (gtk_widget_get_parent (self->count)), button);
}

void
app_search_open (AppSearch *self)
{
  gtk_search_bar_set_search_mode (GTK_SEARCH_BAR (self->bar), TRUE);
  gtk_widget_grab_focus (self->entry);
}

void
app_search_for (AppSearch *self, const char *text)
{
  app_search_open (self);
  gtk_editable_set_text (GTK_EDITABLE (self->entry), text);
}

const char *
app_search_get_text (const AppSearch *self)
{
  return gtk_editable_get_text (GTK_EDITABLE (self->entry));
}

void
app_search_show_count (AppSearch *self, const char *count)
{
  gtk_label_set_text (GTK_LABEL (self->count),
                      app_search_get_text (self)[0] != '\0' ? count : "");
}
