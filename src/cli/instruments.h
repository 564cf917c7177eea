// SPDX-License-Identifier: GPL-3.0-or-later

/* From options to instruments. */

#pragma once

#include "bundle/bundle.h"
#include "cli/options.h"
#include "cli/terminal.h"

/* Adds what `options` ask for. What is asked for and not built yet is named on the terminal, and left out. `ask_debuginfod`: servers
 * may be asked for symbols; with a `queue` (borrowed) later, so that the capture does not wait. */
void sysprof_cli_add_instruments (SysprofProfiler *profiler,
                                  const CliOptions *options,
                                  bool ask_debuginfod,
                                  DebuginfodQueue *queue,
                                  Terminal *terminal);

/* The command with its environment and descriptors; NULL without one. *(full)* Adds to `profiler` what its
 * descriptors need. `environment`: what the options add to. */
SysprofSpawnable *sysprof_cli_new_spawnable (SysprofProfiler *profiler,
                                             const CliOptions *options,
                                             const char *const *environment,
                                             Terminal *terminal);
