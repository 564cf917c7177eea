// SPDX-License-Identifier: GPL-3.0-or-later

/* A name is CACHE-OPERATIONs or CACHE-OPERATION-misses. The bytes of config are cache,
 * operation and result.
 *
 * Source: perf_event_open(2), "PERF_TYPE_HW_CACHE"; perf-list(1). */

#include "perf/events/cache-event.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const char *const caches[] = {
  [PERF_COUNT_HW_CACHE_L1D]  = "L1-dcache",
  [PERF_COUNT_HW_CACHE_L1I]  = "L1-icache",
  [PERF_COUNT_HW_CACHE_LL]   = "LLC",
  [PERF_COUNT_HW_CACHE_DTLB] = "dTLB",
  [PERF_COUNT_HW_CACHE_ITLB] = "iTLB",
  [PERF_COUNT_HW_CACHE_BPU]  = "branch",
  [PERF_COUNT_HW_CACHE_NODE] = "node",
};

static const char *const accesses[PERF_COUNT_HW_CACHE_OP_MAX][PERF_COUNT_HW_CACHE_RESULT_MAX] = {
  [PERF_COUNT_HW_CACHE_OP_READ]     = { "loads",      "load-misses" },
  [PERF_COUNT_HW_CACHE_OP_WRITE]    = { "stores",     "store-misses" },
  [PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetches", "prefetch-misses" },
};
/* clang-format on */

#define N_CACHES  (sizeof caches / sizeof caches[0])
#define N_RESULTS PERF_COUNT_HW_CACHE_RESULT_MAX
#define N_EACH    (PERF_COUNT_HW_CACHE_OP_MAX * N_RESULTS)

const char *
sysprof_cache_event_nth (unsigned i)
{
  static _Thread_local char name[32];

  if (i >= N_CACHES * N_EACH)
    return NULL;

  (void) snprintf (name, sizeof name, "%s-%s", caches[i / N_EACH],
                   accesses[i % N_EACH / N_RESULTS][i % N_RESULTS]);
  return name;
}

bool
sysprof_cache_event_find (const char *name, uint64_t *config)
{
  const char *known;

  for (unsigned i = 0; (known = sysprof_cache_event_nth (i)) != NULL; i++)
    if (strcmp (known, name) == 0)
      {
        *config = i / N_EACH | (uint64_t) (i % N_EACH / N_RESULTS) << 8 |
                  (uint64_t) (i % N_RESULTS) << 16;
        return true;
      }
  return false;
}
