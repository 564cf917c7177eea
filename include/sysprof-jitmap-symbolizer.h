// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofJitmapSymbolizer: resolves JIT-compiled functions with the names in the capture. */

#pragma once

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_JITMAP_SYMBOLIZER (sysprof_jitmap_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofJitmapSymbolizer,
                      sysprof_jitmap_symbolizer,
                      JITMAP_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSymbolizer *sysprof_jitmap_symbolizer_new (void);

G_END_DECLS
