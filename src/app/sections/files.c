// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of embedded files. */

#include "app/panes/panes.h"
#include "app/sections/sections.h"

#include <glib/gi18n.h>

static uint64_t
count (const Store *store)
{
  return store->files.n;
}

const Section app_files_section = {
  .id = "files",
  .title = N_ ("Files"),
  .icon = "folder-symbolic",
  .group = SECTIONS_AUXILIARY,
  .count = count,
  .missing = N_ ("The recording has no embedded files."),
  .views = {
    { "files", N_ ("Files"), "folder-symbolic",
      { .view = "files", .ignores_shape = true, .ignores_time = true, .sort = "name" },
      .columns = (const char *const[]){ "name", "compressed", "size", "complete", NULL },
      .titles = (const char *const[]){ N_ ("Path"), N_ ("Compressed"), N_ ("Size"),
                                       N_ ("Complete"), NULL },
      .filter = N_ ("Filter Files"), .make = app_files_new },
  },
};
