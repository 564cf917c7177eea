// SPDX-License-Identifier: GPL-3.0-or-later

/* Events of caches, by the names that perf gives them: "L1-dcache-load-misses". */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* perf_event_attr.config of PERF_TYPE_HW_CACHE. FALSE: that is no such name. */
bool sysprof_cache_event_find (const char *name, uint64_t *config);

/* The name of the event with number `i`; NULL behind the last. Valid until the next call on this thread. */
const char *sysprof_cache_event_nth (unsigned i);
