// SPDX-License-Identifier: GPL-3.0-or-later

/* Views of several panes. Narrow windows show one of them, and buttons that choose it. */

#include "app/panes/panes.h"

#include <glib/gi18n.h>

#define MOST_PANES 3

typedef struct
{
  GtkWidget *panes[MOST_PANES]; /* children of GtkPaneds */
  GtkWidget *buttons[MOST_PANES];
} Switcher;

static void
arrange (GtkWidget *bar)
{
  const Switcher *self = g_object_get_data (G_OBJECT (bar), "switcher");
  GtkWidget *window = GTK_WIDGET (gtk_widget_get_root (bar));
  bool is_narrow = window != NULL && gtk_widget_has_css_class (window, "narrow");

  gtk_widget_set_visible (bar, is_narrow);
  for (int i = 0; i < MOST_PANES && self->panes[i] != NULL; i++)
    {
      GtkToggleButton *button = GTK_TOGGLE_BUTTON (self->buttons[i]);

      gtk_widget_set_visible (self->panes[i],
                              !is_narrow || gtk_toggle_button_get_active (button));
    }
  for (int i = 0; i < MOST_PANES && self->panes[i] != NULL; i++)
    {
      GtkPaned *paned = GTK_PANED (gtk_widget_get_parent (self->panes[i]));

      gtk_widget_set_visible (GTK_WIDGET (paned),
                              gtk_widget_get_visible (gtk_paned_get_start_child (paned)) ||
                                  gtk_widget_get_visible (gtk_paned_get_end_child (paned)));
    }
}

static void
on_root (GtkWidget *bar)
{
  GtkRoot *window = gtk_widget_get_root (bar);

  if (window == NULL)
    return;
  g_signal_connect_object (window, "notify::css-classes", G_CALLBACK (arrange), bar,
                           G_CONNECT_SWAPPED);
  arrange (bar);
}

GtkWidget *
app_pane_switcher_new (GtkWidget *content, GtkWidget *const *panes, const char *const *titles)
{
  Switcher *self = g_new0 (Switcher, 1);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  gtk_widget_add_css_class (bar, "linked");
  gtk_widget_set_visible (bar, FALSE);
  g_object_set_data_full (G_OBJECT (bar), "switcher", self, g_free);
  for (int i = 0; i < MOST_PANES && panes[i] != NULL; i++)
    {
      GtkWidget *button = gtk_toggle_button_new_with_label (_ (titles[i]));

      self->panes[i] = panes[i];
      self->buttons[i] = button;
      if (i > 0)
        gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (button),
                                     GTK_TOGGLE_BUTTON (self->buttons[0]));
      gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (button), i == 0);
      g_signal_connect_swapped (button, "toggled", G_CALLBACK (arrange), bar);
      gtk_widget_set_hexpand (button, TRUE);
      gtk_box_append (GTK_BOX (bar), button);
    }
  g_signal_connect (bar, "notify::root", G_CALLBACK (on_root), NULL);
  gtk_widget_set_vexpand (content, TRUE);
  gtk_box_append (GTK_BOX (box), content);
  gtk_box_append (GTK_BOX (box), bar);
  return box;
}
