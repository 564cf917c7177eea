// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofKallsymsSymbolizer: resolves kernel functions. */

#pragma once

#include <gio/gio.h>

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_KALLSYMS_SYMBOLIZER (sysprof_kallsyms_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofKallsymsSymbolizer,
                      sysprof_kallsyms_symbolizer,
                      KALLSYMS_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

/* Uses the list in the capture, or that of the running kernel if it is the recorded one.
 * *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_kallsyms_symbolizer_new (void);

/* Uses a list like /proc/kallsyms, which is read when a capture is loaded. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_kallsyms_symbolizer_new_for_symbols (GInputStream *symbols);

G_END_DECLS
