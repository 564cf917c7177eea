// SPDX-License-Identifier: GPL-3.0-or-later

/* The cost of the recorder itself: its CPU time, including its children, and its memory.
 *
 * Source: proc(5), /proc/PID/statm. */

#include "record/counters/sampled-counters.h"
#include "record/recording-thread.h"

#define PERCENT_OF_TIME 1e-7 /* from ns per second */

enum
{
  ROW_CPU,
  ROW_MEMORY,
};

static const CounterRow own_rows[] = {
  [ROW_CPU] = { "Recorder", "CPU", N_ ("CPU time of the recorder"), COUNTER_RATE,
                PERCENT_OF_TIME },
  [ROW_MEMORY] = { "Recorder", "Memory", N_ ("Resident memory of the recorder"),
                   COUNTER_VALUE },
};

static bool
parse_statm (unsigned path, Text text, CounterValues *values)
{
  uint64_t pages;

  if (!sysprof_proc_parse_resident (text, &pages))
    return false;

  sysprof_counter_values_set (values, ROW_MEMORY,
                              (double) pages * (double) sysconf (_SC_PAGESIZE));
  sysprof_counter_values_set (values, ROW_CPU, (double) sysprof_recording_own_cpu_time ());
  return true;
}

const SampledCounters sysprof_own_usage_counters = {
  .name = "Own Usage",
  .title = N_ ("the recorder's own usage"),
  .paths = { "/proc/self/statm" },
  .interval = 1000 * MSEC,
  .rows = own_rows,
  .n_rows = G_N_ELEMENTS (own_rows),
  .parse = parse_statm,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofOwnUsage,
                                 sysprof_own_usage,
                                 &sysprof_own_usage_counters)

const InstrumentRow sysprof_own_usage_row = {
  .by_default = INSTRUMENT_ON,
  .options = { { "no-recorder", "Do not record the recorder's own CPU time and memory",
                 .omits = true } },
  .manual =
      "Do not record the CPU time and memory of the recorder. The numbers of lost and throttled\n"
      "samples are always recorded, because they show how complete the capture is.",
  .new = sysprof_own_usage_new,
};
