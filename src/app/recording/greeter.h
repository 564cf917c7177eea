// SPDX-License-Identifier: GPL-3.0-or-later

/* AppGreeter: the window in which people choose what to record, or open a recording. */

#pragma once

#include <adwaita.h>
#include <json-glib/json-glib.h>

#define APP_TYPE_GREETER (app_greeter_get_type ())
G_DECLARE_FINAL_TYPE (AppGreeter, app_greeter, APP, GREETER, AdwApplicationWindow)

/* `settings`: NULL = those of the last recording. */
GtkWidget *app_greeter_new (GtkApplication *application, JsonObject *settings);
