// SPDX-License-Identifier: GPL-3.0-or-later

/* Buttons with text. GTK 4.8 reads the underline of a mnemonic to screen readers, and the text
 * twice: these have exactly their text as name. */

#pragma once

#include <gtk/gtk.h>

/* `title` has a mnemonic, `action` may be NULL. The text is wrapped in narrow windows. */
GtkWidget *app_button_new (const char *title, const char *action);
void app_button_set_title (GtkWidget *button, const char *title);

/* Shows a dialog of libadwaita, whose buttons it names in the same way. */
void app_button_present_dialog (GtkWidget *dialog);
