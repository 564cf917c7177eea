// SPDX-License-Identifier: GPL-3.0-or-later

/* --report and --flame: what is shown when the recording is done. */

#pragma once

#include "cli/options.h"
#include "cli/output.h"

/* `fd` (borrowed) is the finished capture, `flame` an open output if one was asked for. The report goes to
 * standard output, or to standard error where that belongs to the command or the capture. FALSE with `error`. */
gboolean
sysprof_cli_show_results (const CliOptions *options, int fd, Output *flame, GError **error);
