// SPDX-License-Identifier: GPL-3.0-or-later

/* Starts a recording from settings. */

#pragma once

#include <json-glib/json-glib.h>
#include <sysprof.h>

/* A profiler with the instruments of the settings. NULL with `error` if a setting cannot work,
 * such as a command line that cannot be parsed. *(full)* */
SysprofProfiler *app_profiler_new (JsonObject *settings, GError **error);
/* "System Capture from 2026-11-26 03:04:05.syscap" *(full)* */
char *app_profiler_dup_name (void);
