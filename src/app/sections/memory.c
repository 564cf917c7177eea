// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of allocations: call graphs whose weights are bytes or numbers. */

#include "app/panes/panes.h"
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
  .icon = "package-x-generic-symbolic",
  .group = SECTIONS_CALLGRAPH,
  .count = count,
  .has_badge = true,
  .weight = "heap-weight",
  .missing = N_ ("“Trace Memory Allocations” is not available yet. Allocations "
                 "that another version recorded are shown here."),
  .tracks = (const char *const[]){ "heap", "allocations", "allocation-stacks", NULL },
  .make_details = app_allocation_details_new,
  .views = {
    { "allocations", N_ ("Allocations"), "package-x-generic-symbolic",
      { .view = "functions", .weight = WEIGHT_BYTES }, .make = app_call_graph_new },
    { "leaks", N_ ("Leaks"), "dialog-warning-symbolic",
      { .view = "functions", .weight = WEIGHT_BYTES, .heap = HEAP_LEAKS },
      .make = app_call_graph_new },
    { "temporaries", N_ ("Temporaries"), "view-refresh-symbolic",
      { .view = "functions", .weight = WEIGHT_BYTES, .heap = HEAP_TEMPORARIES },
      .make = app_call_graph_new },
    { "flame", N_ ("Flamegraph"), "power-profile-performance-symbolic",
      { .view = "flame", .weight = WEIGHT_BYTES }, .make = app_flame_view_new },
    { "summary", N_ ("Summary"), "view-list-symbolic",
      { .view = "heap-sizes", .ignores_shape = true } },
  },
};
