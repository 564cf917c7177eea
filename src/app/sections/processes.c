// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of processes and threads. */

#include "app/panes/panes.h"
#include "app/sections/sections.h"

#include <glib/gi18n.h>

static uint64_t
count (const Store *store)
{
  return store->processes.n > 0 ? store->processes.n - 1 : 0;
}

const Section app_processes_section = {
  .id = "processes",
  .title = N_ ("Processes"),
  .icon = "application-x-executable-symbolic",
  .group = SECTIONS_PROCESSES,
  .count = count,
  .has_badge = true,
  .missing = N_ ("The capture has no processes."),
  .tracks = (const char *const[]){ "processes", NULL },
  .views = {
    { "chart", N_ ("Process Chart"), "view-continuous-symbolic", .chart = "processes",
      .make = app_process_chart_new },
    { "processes", N_ ("Process Table"), "application-x-executable-symbolic",
      { .view = "processes", .ignores_shape = true },
      .columns = (const char *const[]){ "start", "duration", "pid", "command", "total", NULL },
      .titles = (const char *const[]){ N_ ("Time"), N_ ("Duration"), N_ ("PID"),
                                       N_ ("Command Line"), N_ ("Samples"), NULL },
      .make = app_process_table_new },
    { "threads", N_ ("Threads"), "view-list-symbolic",
      { .view = "threads", .ignores_shape = true } },
    { "cgroups", N_ ("Control Groups"), "folder-symbolic",
      { .view = "cgroups", .ignores_shape = true } },
  },
};
