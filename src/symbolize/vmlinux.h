// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel's ELF file: for names if the list of kernel symbols is hidden, and for lines. */

#pragma once

#include "symbolize/fetched-files.h"
#include "symbolize/symbolizer.h"

/* Resolves the remaining kernel addresses, or their lines, with the files on this machine that
 * have the recorded build IDs. Notes missing files as wanted. Files of untrusted owners are not
 * used. */
void sysprof_vmlinux_resolve (Symbolization *self);

/* Likewise, with files[n] that were fetched, which are parsed without privileges. */
void sysprof_vmlinux_resolve_fetched (Symbolization *self, FetchedKernelFile *files, guint n);
