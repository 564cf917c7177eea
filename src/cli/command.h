// SPDX-License-Identifier: GPL-3.0-or-later

/* The command that is recorded. */

#pragma once

#include "cli/options.h"

#include <gio/gio.h>

/* Checks that the command exists, if there is one, before a file is created. Whether it can be
 * started is known only later. FALSE with `error`. */
bool sysprof_cli_find_command (const CliOptions *options, GError **error);

/* The process ID of a command (NULL: it was not started) that still runs; else NULL. Borrowed
 * from `subprocess`. */
const char *sysprof_cli_get_running_command (GSubprocess *subprocess);
