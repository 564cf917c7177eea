// SPDX-License-Identifier: GPL-3.0-or-later

/* The application: one instance, its windows, actions and keys. */

#pragma once

#include <adwaita.h>

#define APP_ID "org.gnome.Sysprof"

#define APP_TYPE_APPLICATION (app_application_get_type ())
G_DECLARE_FINAL_TYPE (AppApplication, app_application, APP, APPLICATION, AdwApplication)

AppApplication *app_application_new (void);
