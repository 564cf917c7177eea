// SPDX-License-Identifier: GPL-3.0-or-later

/* AppWindow: the capture window: sections at the left, timeline, filters and the views of a
 * section in the middle, details at the right. */

#pragma once

#include "app/session/session.h"

#include <adwaita.h>

#define APP_TYPE_WINDOW (app_window_get_type ())
G_DECLARE_FINAL_TYPE (AppWindow, app_window, APP, WINDOW, AdwApplicationWindow)

AppWindow *app_window_new (GtkApplication *application);
/* Loads a capture into the window. `name` is the title; NULL = the name of the file. */
void app_window_open (AppWindow *self, GFile *file, const char *name);
GFile *app_window_get_file (AppWindow *self); /* *(none, nullable)* */
