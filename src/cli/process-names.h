// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds running processes by name, for --pid. */

#pragma once

#include <glib.h>

/* Returns the process whose kernel name (comm) or base name of the first argument is `name`. 0
 * with `error` if there is none, or more than one; `error` then lists them, one per line. */
gint sysprof_cli_find_process (const char *name, GError **error);
