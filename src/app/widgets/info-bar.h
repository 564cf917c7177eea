// SPDX-License-Identifier: GPL-3.0-or-later

/* A bar below the header that says what failed, why and what to do. Hidden until then. */

#pragma once

#include <gtk/gtk.h>

GtkWidget *app_info_bar_new (void);
/* Text that can be selected and copied; NULL hides the bar. */
void app_info_bar_show (GtkWidget *bar, GtkMessageType type, const char *text);
