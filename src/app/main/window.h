// SPDX-License-Identifier: GPL-3.0-or-later

/* AppWindow: the capture window: sections at the left, timeline, filters and the views of a
 * section in the middle, details at the right. */

#pragma once

#include "app/session/session.h"

#include <adwaita.h>
#include <json-glib/json-glib.h>

#define APP_TYPE_WINDOW (app_window_get_type ())
G_DECLARE_FINAL_TYPE (AppWindow, app_window, APP, WINDOW, AdwApplicationWindow)

AppWindow *app_window_new (GtkApplication *application);
/* Loads a capture into the window. */
void app_window_open (AppWindow *self, GFile *file);
/* The settings with which it was recorded, for Record Again. */
void app_window_set_settings (AppWindow *self, JsonObject *settings);
GFile *app_window_get_file (AppWindow *self);         /* *(none, nullable)* */
AppSession *app_window_get_session (AppWindow *self); /* *(none)*; NULL while it loads */
/* The recording was saved as `file`. One without a name has this name now. */
void app_window_set_saved (AppWindow *self, GFile *file);
/* Shows a bar, such as what could not be recorded and why. */
void app_window_show_note (AppWindow *self, const char *text);
void app_window_show_toast (AppWindow *self, const char *text);
