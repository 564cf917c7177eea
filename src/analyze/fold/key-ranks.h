// SPDX-License-Identifier: GPL-3.0-or-later

/* The order of all siblings at once: what compares names does so once per name. */

#pragma once

#include "analyze/fold/entries.h"

/* [n_keys] of all keys, or of those that `entries` have: functions by name, then processes by name,
 * then threads by number; the orders of call-order.h. NULL if cancelled. *(full)* */
uint32_t *sysprof_key_ranks_new (const FoldEntries *entries, const FoldWork *work);
