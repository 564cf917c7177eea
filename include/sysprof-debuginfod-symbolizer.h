// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDebuginfodSymbolizer: asks servers for what is not on this machine. */

#pragma once

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DEBUGINFOD_SYMBOLIZER (sysprof_debuginfod_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDebuginfodSymbolizer,
                      sysprof_debuginfod_symbolizer,
                      DEBUGINFOD_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_48)

/* *(full)*; NULL and `error` set where this build cannot. */
SYSPROF_AVAILABLE_IN_48
SysprofSymbolizer *sysprof_debuginfod_symbolizer_new (GError **error);

G_END_DECLS
