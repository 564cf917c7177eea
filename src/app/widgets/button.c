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
