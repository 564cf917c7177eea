// SPDX-License-Identifier: GPL-3.0-or-later

/* bundle: names everything that was sampled when a recording ends, and adds the names to it, so that the capture shows
 * the same on a machine that has none of the files.
 *
 * The only library that knows both halves: it is an instrument of the recording, and reads the capture as the
 * analysis does. Public face: sysprof_symbols_bundle_new(). Runs on the pump thread, in the augment phase.
 *
 * What it adds:
 *
 *   __symbols__         the packed table (plain: peers of the 3.46 generation do not unpack)
 *   __unnamed__.gz      addresses without a name: where they are in their file, and why
 *   __lines__.gz        lines and inlined functions, where files here had debug information
 *   /proc/kallsyms.gz   the kernel's symbols that samples touch, each with the next */

#pragma once

#include "symbolize/symbolize.h"

#include <sysprof.h>

/* Files that servers would be asked for are added to `queue` instead; it must outlive the recording. */
void sysprof_symbols_bundle_set_debuginfod_queue (SysprofSymbolsBundle *self,
                                                  DebuginfodQueue *queue);
