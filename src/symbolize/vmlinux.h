// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel's own ELF file, as it was linked: of use where nobody listed its functions, and for lines. */

#pragma once

#include "symbolize/symbolizer.h"

/* Names what is open of the kernel, or finds its lines, from the file with the build id that was recorded, where it is here; notes
 * as wanted what is not. Strangers' files are never taken for it. */
void sysprof_vmlinux_resolve (Symbolization *self);

/* The same from a file that came from elsewhere, which is parsed without rights. FALSE: it is not what it should be. */
bool sysprof_vmlinux_resolve_fetched (Symbolization *self, const char *path);
