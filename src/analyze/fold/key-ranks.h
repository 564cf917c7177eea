// SPDX-License-Identifier: GPL-3.0-or-later

/* The order of all siblings at once: what compares names does so once per name. */

#pragma once

#include "analyze/fold/forest.h"

/* [n_keys] of the keys that occur in the forest, NULL = all but threads: functions by name, then processes by name, then threads by number; the
 * orders of call-order.h. NULL if cancelled. *(full)* */
uint32_t *sysprof_key_ranks_new (const Store *store,
                                 const SymbolTable *symbols,
                                 const FoldForest *forest,
                                 const FoldWork *work);
