// SPDX-License-Identifier: GPL-3.0-or-later

/* Rows of settings in the greeter. Each change is stored in the settings at once. */

#pragma once

#include "app/recording/settings.h"

#include <adwaita.h>

/* A row for the setting. The settings must live as long as the row. */
GtkWidget *app_setting_row_new (const Setting *setting, JsonObject *settings);
/* The list of running processes to choose from. Those of the settings are chosen at first. */
GtkWidget *app_process_picker_new (JsonObject *settings);
/* Adds the chosen processes to `pids`; none = the whole system. FALSE: neither was chosen. */
bool app_process_picker_get_pids (GtkWidget *picker, GArray *pids);
