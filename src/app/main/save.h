// SPDX-License-Identifier: GPL-3.0-or-later

/* Saves the recording of a capture window, and asks before a recording without a name is
 * closed. */

#pragma once

#include "app/main/window.h"

#include <stdbool.h>

void app_save_as (AppWindow *window);
/* Asks whether to save, if the recording has no name; FALSE = the window may close. */
bool app_save_ask (AppWindow *window);
