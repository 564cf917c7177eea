// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofKallsymsSymbolizer: names functions of the kernel. */

#pragma once

#include <gio/gio.h>

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_KALLSYMS_SYMBOLIZER (sysprof_kallsyms_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofKallsymsSymbolizer,
                      sysprof_kallsyms_symbolizer,
                      KALLSYMS_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

/* From the list in the capture, else from the running kernel if that is the one. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_kallsyms_symbolizer_new (void);

/* From a list like /proc/kallsyms, which is read when a capture is loaded. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_kallsyms_symbolizer_new_for_symbols (GInputStream *symbols);

G_END_DECLS
