// SPDX-License-Identifier: GPL-3.0-or-later

/* View options: check items of the window that change the focus. To add an option, add a row to
 * the table in options.c. */

#pragma once

#include "app/session/session.h"

/* Adds the actions win.NAME, win.weight and win.heap-weight, which follow the focus. */
void app_options_add_actions (GActionMap *map, AppSession *session);
/* The menu "View Options". *(full)* */
GMenuModel *app_options_make_menu (AppSession *session);
/* A button with the name of the weight and a menu of those that the capture has. */
GtkWidget *app_weight_button_new (AppSession *session);
/* The static `action` is "weight", "heap-weight" or, where the weight does not matter, NULL. */
void app_weight_button_choose (GtkWidget *button, AppSession *session, const char *action);
