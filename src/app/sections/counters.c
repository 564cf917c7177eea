// SPDX-License-Identifier: GPL-3.0-or-later

/* Sections of counters: a list of charts and tables each. */

#include "app/panes/panes.h"
#include "app/sections/sections.h"
#include "views/tracks/tracks.h"

#include <glib/gi18n.h>

static uint64_t
count_of_track (const Store *store, const char *track)
{
  uint64_t n = 0;

  for (uint32_t i = 0; i < store->counters.n; i++)
    if (store->counters.row[i].n_values > 0 &&
        sysprof_counter_is_in_track (
            track, sysprof_store_string (store, store->counters.row[i].category)))
      n++;
  return n;
}

#define CHART(track_)                                                                \
  {                                                                                  \
    "chart", N_ ("Counters Chart"), "view-continuous-symbolic", { .track = track_ }, \
        .make = app_counters_new                                                     \
  }

#define TABLES(track_)                                                      \
  { "table",                                                                \
    N_ ("Counters Table"),                                                  \
    "x-office-spreadsheet-symbolic",                                        \
    { .view = "counter-values", .track = track_, .ignores_shape = true } }, \
  {                                                                         \
    "counters", N_ ("Summary"), "view-list-symbolic",                       \
        { .view = "counters", .track = track_, .ignores_shape = true },     \
        .columns = (const char *const[])                                    \
    {                                                                       \
      "name", "graph", "last", "min", "mean", "max", "rate", NULL           \
    }                                                                       \
  }

static uint64_t
count_cpu (const Store *store)
{
  return count_of_track (store, "counters:cpu") + count_of_track (store, "counters:frequency");
}

const Section app_cpu_section = {
  .id = "cpu",
  .title = N_ ("CPU"),
  .icon = "computer-symbolic",
  .group = SECTIONS_COUNTERS,
  .count = count_cpu,
  .missing = N_ ("Record with “CPU Usage” to see how busy each CPU was."),
  .tracks = (const char *const[]){ "counters:cpu", "counters:frequency", NULL },
  .views = {
    CHART ("counters:cpu"),
    TABLES ("counters:cpu"),
    { "frequency", N_ ("Frequency"), "power-profile-performance-symbolic",
      { .track = "counters:frequency" }, .make = app_counters_new },
    { "cpus", N_ ("CPU Info"), "computer-symbolic",
      { .view = "cpus", .ignores_shape = true } },
  },
};

static uint64_t
count_energy (const Store *store)
{
  return count_of_track (store, "counters:energy") + count_of_track (store, "counters:battery");
}

const Section app_energy_section = {
  .id = "energy",
  .title = N_ ("Energy"),
  .icon = "battery-symbolic",
  .group = SECTIONS_COUNTERS,
  .count = count_energy,
  .missing = N_ ("Record with “Energy Usage” or “Battery Charge”. Virtual machines have "
                 "neither."),
  .tracks = (const char *const[]){ "counters:energy", "counters:battery", NULL },
  .views = {
    CHART ("counters:energy"),
    TABLES ("counters:energy"),
    { "battery", N_ ("Battery"), "battery-symbolic", { .track = "counters:battery" },
      .make = app_counters_new },
  },
};

#define COUNTER_SECTION(variable, id_, title_, icon_, track_, missing_) \
  static uint64_t count_##variable (const Store *store)                 \
  {                                                                     \
    return count_of_track (store, track_);                              \
  }                                                                     \
                                                                        \
  const Section app_##variable##_section = {                            \
    .id = id_,                                                          \
    .title = title_,                                                    \
    .icon = icon_,                                                      \
    .group = SECTIONS_COUNTERS,                                         \
    .count = count_##variable,                                          \
    .missing = missing_,                                                \
    .tracks = (const char *const[]){ track_, NULL },                    \
    .views = { CHART (track_), TABLES (track_) },                       \
  }

COUNTER_SECTION (graphics,
                 "graphics",
                 N_ ("Graphics"),
                 "video-display-symbolic",
                 "counters:graphics",
                 N_ ("Programs of GTK and the compositor write frame rates. Record with "
                     "“Compositor Frame Timings”, or launch the program from Sysprof."));
COUNTER_SECTION (memory_usage,
                 "memory-usage",
                 N_ ("Memory Usage"),
                 "media-flash-symbolic",
                 "counters:memory",
                 N_ ("Record with “Memory Usage” to see used and free memory."));
COUNTER_SECTION (network,
                 "network",
                 N_ ("Network"),
                 "network-wired-symbolic",
                 "counters:network",
                 N_ ("Record with “Network Usage” to see received and sent bytes."));
COUNTER_SECTION (storage,
                 "storage",
                 N_ ("Storage"),
                 "drive-harddisk-symbolic",
                 "counters:storage",
                 N_ ("Record with “Disk Usage” to see reads and writes."));
COUNTER_SECTION (pressure,
                 "pressure",
                 N_ ("Pressure"),
                 "power-profile-performance-symbolic",
                 "counters:pressure",
                 N_ ("The kernel reports no pressure. It needs CONFIG_PSI and the boot "
                     "parameter psi=1."));
COUNTER_SECTION (other,
                 "other",
                 N_ ("Other Counters"),
                 "view-list-symbolic",
                 "counters:other",
                 N_ ("Programs define counters of their own with the capture library."));
