// SPDX-License-Identifier: GPL-3.0-or-later

/* The keys of the application: one table for the accelerators and for the window that lists
 * them. */

#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

/* Title and action of command `i`; false if there are no more. */
bool app_shortcuts_get (size_t i, const char **title, const char **action);
void app_shortcuts_set_accels (GtkApplication *application);
/* The window "Keyboard Shortcuts". *(full)* */
GtkShortcutsWindow *app_shortcuts_window_new (void);
