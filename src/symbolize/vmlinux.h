// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel's own ELF file, as it was linked: of use where nobody listed its functions, and for lines. */

#pragma once

#include "symbolize/symbolizer.h"

/* Where the kernel's label `_text` is by a list like /proc/kallsyms. 0: the list does not have it, or hides it. */
uint64_t sysprof_kallsyms_find_text (const char *text, size_t size);

/* Names what is open of the kernel, or finds its lines, from the file with the build id that was recorded, where it is here; notes
 * as wanted what is not. Strangers' files are never taken for it. */
void sysprof_vmlinux_resolve (Symbolization *self);

/* The same from a file that came from elsewhere, which is parsed without rights. FALSE: it is not what it should be. */
bool sysprof_vmlinux_resolve_fetched (Symbolization *self, const char *path);
