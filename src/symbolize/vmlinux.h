// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel's own ELF file, as it was linked: of use where nobody listed its functions, and for lines. */

#pragma once

#include "symbolize/fetched-files.h"
#include "symbolize/symbolizer.h"

/* Names what is open of the kernel, or finds its lines, from the files with the build ids that were recorded, where they are here;
 * notes as wanted those that are not. Strangers' files are never taken for it. */
void sysprof_vmlinux_resolve (Symbolization *self);

/* The same from files[n] that came from elsewhere, which are parsed without rights. */
void sysprof_vmlinux_resolve_fetched (Symbolization *self, FetchedKernelFile *files, guint n);
