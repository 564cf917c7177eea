// SPDX-License-Identifier: GPL-3.0-or-later

/* The first page: what was recorded and what stands out. */

#include "app/sections/sections.h"

#include <glib/gi18n.h>

#include "app/panes/panes.h"

static uint64_t
count (const Store *store)
{
  return 1;
}

const Section app_overview_section = {
  .id = "overview",
  .title = N_ ("Overview"),
  .icon = "go-home-symbolic",
  .group = SECTIONS_OVERVIEW,
  .count = count,
  .tracks = (const char *const[]){ "categories", "counters:cpu", "counters:memory", NULL },
  .views = {
    { "overview", N_ ("Overview"), "go-home-symbolic", { .view = "summary" },
      .make = app_overview_new },
  },
};
