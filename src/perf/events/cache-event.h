// SPDX-License-Identifier: GPL-3.0-or-later

/* Cache events by the names that perf uses, such as "L1-dcache-load-misses". */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sets `config` for PERF_TYPE_HW_CACHE. FALSE: no cache event has this name. */
bool sysprof_cache_event_find (const char *name, uint64_t *config);

/* The name of event number `i`; NULL after the last. Valid until the next call on this
 * thread. */
const char *sysprof_cache_event_nth (unsigned i);
