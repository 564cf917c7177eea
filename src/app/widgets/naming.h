// SPDX-License-Identifier: GPL-3.0-or-later

/* Accessible names, for widgets without a label inside of them: GTK 4.8 takes the names of
 * others from their labels, and would say both. */

#pragma once

#include <gtk/gtk.h>

static inline void
app_set_name (GtkWidget *widget, const char *name)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                  -1);
}
