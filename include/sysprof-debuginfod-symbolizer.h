// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDebuginfodSymbolizer: downloads debug files from debuginfod servers. */

#pragma once

#include "sysprof-symbolizer.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_DEBUGINFOD_SYMBOLIZER (sysprof_debuginfod_symbolizer_get_type ())

SYSPROF_DECLARE_TYPE (SysprofDebuginfodSymbolizer,
                      sysprof_debuginfod_symbolizer,
                      DEBUGINFOD_SYMBOLIZER,
                      SYSPROF_AVAILABLE_IN_48)

/* *(full)*; NULL with `error` set if this build does not support debuginfod. */
SYSPROF_AVAILABLE_IN_48
SysprofSymbolizer *sysprof_debuginfod_symbolizer_new (GError **error);

G_END_DECLS
