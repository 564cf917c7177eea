// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of samples. */

#include "app/sections/sections.h"

#include <glib/gi18n.h>

#include "app/panes/panes.h"

static uint64_t
count (const Store *store)
{
  return store->samples.n;
}

const Section app_time_profiler_section = {
  .id = "time-profiler",
  .title = N_ ("Time Profiler"),
  .icon = "preferences-system-time-symbolic",
  .group = SECTIONS_CALLGRAPH,
  .count = count,
  .has_badge = true,
  .weight = "weight",
  .missing = N_ ("Record with “Sample Native Stacks” to see where time is spent."),
  .tracks = (const char *const[]){ "categories", "samples", "threads", NULL },
  .make_details = app_stack_details_new,
  .views = {
    { "callgraph", N_ ("Callgraph"), "view-list-symbolic", { .view = "functions" },
      .make = app_call_graph_new },
    { "flame", N_ ("Flamegraph"), "power-profile-performance-symbolic", { .view = "flame" },
      .make = app_flame_view_new },
    { "heat", N_ ("Activity"), "view-grid-symbolic", { .view = "heat" },
      .columns = (const char *const[]){ "time", "total", "slots", NULL },
      .titles = (const char *const[]){ N_ ("Second"), N_ ("Samples"), N_ ("Each 25 ms") } },
    { "samples", N_ ("Samples"), "x-office-spreadsheet-symbolic", { .view = "samples" } },
    { "source", N_ ("Source"), "text-x-generic-symbolic",
      { .view = "source", .switches = (const char *const[]){ "whole-files", NULL } },
      .make = app_code_pane_new,
      .columns = (const char *const[]){ "self", "total", "line", "source", NULL } },
    { "disassembly", N_ ("Disassembly"), "utilities-terminal-symbolic",
      { .view = "disassembly" }, .make = app_code_pane_new,
      .columns = (const char *const[]){ "self", "total", "address", "instruction", NULL } },
    { "waits", N_ ("Waits"), "content-loading-symbolic",
      { .view = "waits", .missing = N_ ("Record with “Record Waits” to see them.") },
      .columns = (const char *const[]){ "process", "reason", "count", "time", "max", "waker",
                                        "cause", NULL } },
    { "quality", N_ ("Quality"), "dialog-information-symbolic", { .view = "quality" } },
  },
};
