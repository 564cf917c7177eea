// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of marks: spans of time that programs and the recorder name. */

#include "app/panes/panes.h"
#include "app/sections/sections.h"

#include <glib/gi18n.h>

static uint64_t
count (const Store *store)
{
  return store->n_marks;
}

const Section app_marks_section = {
  .id = "marks",
  .title = N_ ("Marks"),
  .icon = "starred-symbolic",
  .group = SECTIONS_PROCESSES,
  .count = count,
  .has_badge = true,
  .missing = N_ ("Programs of GTK and GLib write marks if Sysprof launches them. “Record "
                 "Scheduler Details” makes marks of what each CPU runs."),
  .tracks = (const char *const[]){ "marks", NULL },
  .views = {
    { "chart", N_ ("Mark Chart"), "view-continuous-symbolic", .chart = "marks",
      .make = app_span_view_new },
    { "table", N_ ("Mark Table"), "x-office-spreadsheet-symbolic",
      { .view = "marks", .ignores_shape = true },
      .columns = (const char *const[]){ "time", "duration", "cpu", "pid", "group", "name",
                                        "message", NULL },
      .titles = (const char *const[]){ N_ ("Start"), N_ ("Duration"), N_ ("CPU"),
                                       N_ ("Process"), N_ ("Group"), N_ ("Type"),
                                       N_ ("Description"), NULL },
      .make = app_mark_table_new },
    { "waterfall", N_ ("Mark Waterfall"), "view-sort-descending-symbolic", .chart = "waterfall",
      .make = app_span_view_new },
    { "summary", N_ ("Summary"), "view-list-symbolic",
      { .view = "marks", .ignores_shape = true,
        .switches = (const char *const[]){ "by-name", NULL }, .sort = "median" },
      .columns = (const char *const[]){ "group", "name", "min", "max", "mean", "median",
                                        "count", "total", "histogram", NULL },
      .titles = (const char *const[]){ N_ ("Category"), N_ ("Name"), N_ ("Minimum"),
                                       N_ ("Maximum"), N_ ("Average"), N_ ("Median"),
                                       N_ ("Count"), N_ ("Total"), N_ ("Histogram"), NULL } },
  },
};
