// SPDX-License-Identifier: GPL-3.0-or-later

/* Buttons with text. */

#include "app/widgets/button.h"

void
app_button_set_title (GtkWidget *button, const char *title)
{
  GtkWidget *label = gtk_label_new_with_mnemonic (title);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_justify (GTK_LABEL (label), GTK_JUSTIFY_CENTER);
  gtk_button_set_child (GTK_BUTTON (button), label);
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), button);
}

GtkWidget *
app_button_new (const char *title, const char *action)
{
  GtkWidget *button = gtk_button_new ();

  gtk_widget_add_css_class (button, "text-button");
  app_button_set_title (button, title);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  return button;
}

static void
name_once (GtkWidget *widget)
{
  if (GTK_IS_BUTTON (widget) && gtk_button_get_label (GTK_BUTTON (widget)) != NULL)
    gtk_accessible_reset_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    name_once (child);
}

void
app_button_present_dialog (GtkWidget *dialog)
{
  name_once (dialog);
  gtk_window_present (GTK_WINDOW (dialog));
}
