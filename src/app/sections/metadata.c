// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of facts about the recording. */

#include "app/panes/panes.h"
#include "app/sections/sections.h"

#include <glib/gi18n.h>

static uint64_t
count (const Store *store)
{
  return store->n_metadata;
}

const Section app_metadata_section = {
  .id = "metadata",
  .title = N_ ("Metadata"),
  .icon = "dialog-information-symbolic",
  .group = SECTIONS_AUXILIARY,
  .count = count,
  .missing = N_ ("The recording has no metadata."),
  .make_details = app_row_details_new,
  .views = {
    { "metadata", N_ ("Metadata"), "dialog-information-symbolic",
      { .view = "metadata", .ignores_shape = true, .ignores_time = true },
      .columns = (const char *const[]){ "time", "id", "value", NULL },
      .titles = (const char *const[]){ N_ ("Time"), N_ ("Key"), N_ ("Value"), NULL } },
  },
};
