// SPDX-License-Identifier: GPL-3.0-or-later

/* The units of the recorder's own counters (docs/format.md). */

#include "views/counter-units.h"

#include <glib.h>

static const CounterUnit units[] = {
  { "CPU Percent", NULL, "%" },
  { "CPU Frequency", NULL, "%" },
  { "Memory Events", NULL, "events", COUNTER_INCREASE },
  { "Memory", NULL, "bytes" },
  { "Network", NULL, "bytes", COUNTER_TOTAL },
  { "Disk", "Bytes", "bytes", COUNTER_INCREASE },
  { "Disk", "Busy", "%" },
  { "Disk", NULL, "operations", COUNTER_INCREASE },
  { "Battery Charge", NULL, "uAh" },
  { "RAPL", NULL, "W" },
  { "Battery Power", NULL, "W" },
  { "Pressure", NULL, "%" },
  { "GPU Percent", NULL, "%" },
  { "GPU Memory", NULL, "bytes" },
  { "Temperature", NULL, "degC" },
  { "Throttling Events", NULL, "events", COUNTER_INCREASE },
  { "Throttling", NULL, "%" },
  { "Cooling", NULL, "%" },
  { "Process", "CPU Time", "ns", COUNTER_TOTAL },
  { "Process", "Resident", "bytes" },
  { "Recorder", "CPU Time", "ns", COUNTER_TOTAL },
  { "Recorder", "CPU", "%" },
  { "Recorder", "Memory", "bytes" },
  { "Sampler", NULL, "samples", COUNTER_TOTAL },
  { "gtk", "fps", "frames/s" },
  { "GJS", "GC bytes", "bytes" },
  { "GJS", "Malloc bytes", "bytes" },
};

const CounterUnit *
sysprof_counter_find_unit (const char *category, const char *name)
{
  static const CounterUnit unknown = { "", NULL, "", COUNTER_VALUE };

  for (size_t i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_str_has_prefix (category, units[i].category) &&
        (units[i].name == NULL || g_str_has_prefix (name, units[i].name)))
      return &units[i];
  return &unknown;
}
