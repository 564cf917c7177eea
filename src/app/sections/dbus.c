// SPDX-License-Identifier: GPL-3.0-or-later

/* The section of D-Bus messages. */

#include "app/panes/panes.h"
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
  .make_details = app_message_details_new,
  .views = {
    { "messages", N_ ("Messages"), "mail-send-receive-symbolic",
      { .view = "dbus", .ignores_shape = true },
      .columns = (const char *const[]){ "time", "duration", "bus", "serial", "reply-serial",
                                        "flags", "size", "type", "sender", "destination",
                                        "path", "interface", "member", "signature", NULL },
      .titles = (const char *const[]){ N_ ("Time"), N_ ("Duration"), N_ ("Bus"),
                                       N_ ("Serial"), N_ ("Reply"), N_ ("Flags"), N_ ("Size"),
                                       N_ ("Type"), N_ ("Sender"), N_ ("Destination"),
                                       N_ ("Path"), N_ ("Interface"), N_ ("Member"),
                                       N_ ("Signature"), NULL },
      .filter = N_ ("Filter Messages") },
    { "calls", N_ ("Calls"), "view-sort-descending-symbolic", .chart = "calls",
      .make = app_span_view_new },
    { "summary", N_ ("Summary"), "view-list-symbolic",
      { .view = "dbus", .ignores_shape = true,
        .switches = (const char *const[]){ "by-member", NULL } } },
  },
};
