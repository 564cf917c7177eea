// SPDX-License-Identifier: GPL-3.0-or-later

/* Downloads files from debuginfod servers with libdebuginfod. */

#pragma once

#include "locate/debuginfod-client.h"

/* On failure returns FALSE and sets `problem`, which the caller frees. May be called from any
 * thread. */
bool sysprof_debuginfod_load_library (char **problem);

/* Downloads the files, the first ones first, and sets `path` of those that were found and the
 * counts of `status`. Call it after sysprof_debuginfod_load_library() has succeeded. `func` may
 * be NULL; it is called about ten times per second. */
void sysprof_debuginfod_download (DebuginfodFile *const *files,
                                  uint32_t n,
                                  const Progress *progress,
                                  DebuginfodFunc func,
                                  void *data,
                                  DebuginfodStatus *status);
