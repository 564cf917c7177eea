// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of D-Bus messages. */

#include "app/sections/sections.h"

#include <glib/gi18n.h>

static uint64_t
count (const Store *store)
{
  return store->n_dbus;
}

const Section app_dbus_section = {
  .id = "dbus",
  .title = N_ ("D-Bus"),
  .icon = "mail-send-receive-symbolic",
  .group = SECTIONS_PROCESSES,
  .count = count,
  .has_badge = true,
  .missing = N_ ("Record with “Record Session Bus” or “Record System Bus” to see messages."),
  .tracks = (const char *const[]){ "dbus", NULL },
  .views = {
    { "messages", N_ ("Messages"), "mail-send-receive-symbolic",
      { .view = "dbus", .ignores_shape = true },
      .columns = (const char *const[]){ "time", "duration", "bus", "serial", "reply-serial",
                                        "size", "type", "sender", "destination", "path",
                                        "interface", "member", "signature", NULL },
      .filter = N_ ("Filter Messages") },
    { "summary", N_ ("Summary"), "view-list-symbolic",
      { .view = "dbus", .ignores_shape = true,
        .switches = (const char *const[]){ "by-member", NULL } } },
  },
};
