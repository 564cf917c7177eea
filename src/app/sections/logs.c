// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of log messages. */

#include "app/panes/panes.h"
#include "app/sections/sections.h"

#include <glib/gi18n.h>

static uint64_t
count (const Store *store)
{
  return store->n_logs;
}

const Section app_logs_section = {
  .id = "logs",
  .title = N_ ("Logs"),
  .icon = "text-x-generic-symbolic",
  .group = SECTIONS_PROCESSES,
  .count = count,
  .has_badge = true,
  .missing = N_ ("Record with “Record System Log” to see messages of the system and of "
                 "programs."),
  .tracks = (const char *const[]){ "logs", NULL },
  .make_details = app_row_details_new,
  .views = {
    { "logs", N_ ("Logs"), "text-x-generic-symbolic",
      { .view = "logs", .ignores_shape = true },
      .columns = (const char *const[]){ "time", "cpu", "pid", "severity", "domain", "message",
                                        NULL } },
  },
};
