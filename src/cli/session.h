// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "cli/options.h"

/* Records as `options` say, from opening the output to showing the results. Returns the exit
 * status. */
int sysprof_cli_record (const CliOptions *options);
