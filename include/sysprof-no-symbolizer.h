// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofNoSymbolizer: names nothing. For programs that look at marks and counters only. */

#pragma once

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_NO_SYMBOLIZER (sysprof_no_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofNoSymbolizer,
                      sysprof_no_symbolizer,
                      NO_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The instance that all share. *(none)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_no_symbolizer_get (void);

G_END_DECLS
