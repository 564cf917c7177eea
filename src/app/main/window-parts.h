// SPDX-License-Identifier: GPL-3.0-or-later

/* Parts of the capture window. */

#pragma once

#include "app/main/window.h"
#include "app/sections/sections.h"

/* The list of sections with badges; "section-chosen" calls `choose`. */
GtkWidget *app_sidebar_new (AppSession *session,
                            void (*choose) (AppWindow *window, const Section *section),
                            AppWindow *window);
void app_sidebar_select (GtkWidget *sidebar, const Section *section);
/* Back, forward, seek and zoom buttons. */
GtkWidget *app_navigation_new (void);
/* The header bar with its menus; the title widget is returned in `title`. */
GtkWidget *app_header_new (GtkWidget **title, GtkWidget **options_button);
/* Adds the actions of the window that need a session: navigation and zoom. */
void app_window_add_session_actions (AppWindow *self, AppSession *session);
