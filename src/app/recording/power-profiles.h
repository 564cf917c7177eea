// SPDX-License-Identifier: GPL-3.0-or-later

/* The power profiles that the service of the desktop offers. */

#pragma once

#include "app/recording/settings.h"

void app_power_profiles_find (SettingChoicesFunc *found, gpointer data);
