// SPDX-License-Identifier: GPL-3.0-or-later

/* Creates the instruments that the options select. */

#pragma once

#include "bundle/bundle.h"
#include "cli/options.h"
#include "cli/terminal.h"

/* Adds the instruments that `options` select. `ask_debuginfod`: whether to query debuginfod servers for symbols; with a
 * `queue` (borrowed) the queries follow later, so that the capture does not wait for them. */
void sysprof_cli_add_instruments (SysprofProfiler *profiler,
                                  const CliOptions *options,
                                  bool ask_debuginfod,
                                  DebuginfodQueue *queue);

/* Returns the command with its environment and descriptors, or NULL without a command. *(full)*
 * Adds to `profiler` the instruments that these descriptors need. `environment`: base of the
 * environment, to which the options add. */
SysprofSpawnable *sysprof_cli_new_spawnable (SysprofProfiler *profiler,
                                             const CliOptions *options,
                                             const char *const *environment,
                                             Terminal *terminal);
