// SPDX-License-Identifier: GPL-3.0-or-later

/* --report and --flame: output at the end of a recording. */

#pragma once

#include "cli/options.h"
#include "cli/output.h"

/* `fd` (borrowed) is the finished capture, `flame` an open output or NULL. The report goes to
 * standard output, or to standard error if standard output belongs to the command or the
 * capture. Returns FALSE with `error`. */
gboolean
sysprof_cli_show_results (const CliOptions *options, int fd, OutputFile *flame, GError **error);
