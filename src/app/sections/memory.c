// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of allocations: call graphs whose weights are bytes. */

#include "app/sections/sections.h"

#include <glib/gi18n.h>

static uint64_t
count (const Store *store)
{
  return store->allocations.n;
}

const Section app_memory_section = {
  .id = "memory",
  .title = N_ ("Memory Allocations"),
  .icon = "media-memory-symbolic",
  .group = SECTIONS_CALLGRAPH,
  .count = count,
  .has_badge = true,
  .missing = N_ ("Record a launched program with “Trace Memory Allocations” to see what it "
                 "allocates."),
  .tracks = (const char *const[]){ "allocations", NULL },
  .views = {
    { "allocations", N_ ("Allocations"), "media-memory-symbolic",
      { .view = "tree", .weight = WEIGHT_BYTES } },
    { "functions", N_ ("Functions"), "view-list-symbolic",
      { .view = "allocations" } },
    { "leaks", N_ ("Leaks"), "dialog-warning-symbolic", { .view = "leaks" } },
    { "temporaries", N_ ("Temporaries"), "view-refresh-symbolic", { .view = "temporaries" } },
  },
};
