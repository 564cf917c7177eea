// SPDX-License-Identifier: GPL-3.0-or-later

/* What a shape makes of single functions. */

#pragma once

#include "analyze/fold/fold.h"

/* Whether `path` is of a shared library of the distribution: what is installed elsewhere, and programs, are not the system's. */
bool sysprof_is_system_library (const char *path);

/* What stands for others is in focus if one of them is. `shown` may be NULL. */
void sysprof_shown_symbols_move_focus (const SymbolId *shown,
                                       const SymbolTable *symbols,
                                       bool *is_focus);
