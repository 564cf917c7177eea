// SPDX-License-Identifier: GPL-3.0-or-later

/* bundle: symbolizes all samples when a recording ends and adds the names to it, so that the
 * capture shows the same names on a machine that has none of the files.
 *
 * This library is the only one that includes both halves: it is an instrument of the recording,
 * and reads the capture like the analysis. Public interface: sysprof_symbols_bundle_new(). Runs
 * on the pump thread, in the augment phase.
 *
 * It adds these files:
 *
 *   __symbols__            the packed table (uncompressed, for version 3.46)
 *   __unnamed__.gz         addresses without a name: their address in the file, and the reason
 *   __lines__.gz           source lines and inlined functions, if files here have debug information
 *   /proc/kallsyms.gz      the kernel symbols that samples touch, each with the next one */

#pragma once

#include "symbolize/symbolize.h"

#include <sysprof.h>

/* Directories like /usr/lib/debug; NULL-terminated, copied. */
void sysprof_symbols_bundle_set_debug_dirs (SysprofSymbolsBundle *self,
                                            const char *const *debug_dirs);
/* Files that could be fetched from servers are added to `queue` instead; it must outlive the
 * recording. */
void sysprof_symbols_bundle_set_debuginfod_queue (SysprofSymbolsBundle *self,
                                                  DebuginfodQueue *queue);
