// SPDX-License-Identifier: GPL-3.0-or-later

/* What the application remembers of its windows, such as sizes and widths of columns, in a key
 * file of the user. */

#pragma once

#include <glib.h>

/* `fallback` if nothing is remembered. */
int app_state_get (const char *group, const char *key, int fallback);
/* Remembered until the application ends, and afterwards once app_state_save() was called. */
void app_state_set (const char *group, const char *key, int value);
void app_state_save (void);
