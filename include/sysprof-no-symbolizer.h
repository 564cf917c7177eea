// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofNoSymbolizer: resolves no symbols. For programs that use only marks and counters. */

#pragma once

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_NO_SYMBOLIZER (sysprof_no_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofNoSymbolizer,
                      sysprof_no_symbolizer,
                      NO_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

/* The shared instance. *(none)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_no_symbolizer_get (void);

G_END_DECLS
