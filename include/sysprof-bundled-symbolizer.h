// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofBundledSymbolizer: resolves symbols with the table that is embedded in the capture. */

#pragma once

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_BUNDLED_SYMBOLIZER (sysprof_bundled_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofBundledSymbolizer,
                      sysprof_bundled_symbolizer,
                      BUNDLED_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_bundled_symbolizer_new (void);

G_END_DECLS
