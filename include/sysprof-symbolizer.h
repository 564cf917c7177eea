// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSymbolizer: a source of symbols. Each kind has its own header. */

#pragma once

#include "sysprof-declare.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SYMBOLIZER (sysprof_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofSymbolizer,
                      sysprof_symbolizer,
                      SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_ALL)

G_END_DECLS
