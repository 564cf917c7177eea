// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <glib.h>

/* Joins the captures (NULL-terminated, at least two) to standard output. Returns FALSE with
 * `error`, one line. */
gboolean sysprof_cli_merge (const char *const *captures, GError **error);
