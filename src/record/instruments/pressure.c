// SPDX-License-Identifier: GPL-3.0-or-later

/* Pressure: the share of time in which tasks waited for a CPU, for memory or for I/O.
 *
 * For each resource the kernel adds up the microseconds in which at least one task was stalled
 * ("some"), and in which all tasks that could have run were stalled ("full"). The kernel's own
 * averages cover 10 s and more, which hides short stalls, so we use the growth of the sums.
 *
 * Source: Linux, Documentation/accounting/psi.rst (kernel 4.20 and later). */

#include "record/instruments/pressure.h"

#include <assert.h>

enum
{
  PATH_CPU,
  PATH_MEMORY,
  PATH_IO,
  PATH_IRQ,
  N_PATHS
};

enum
{
  ROW_CPU,
  ROW_MEMORY,
  ROW_MEMORY_FULL,
  ROW_IO,
  ROW_IO_FULL,
  ROW_IRQ_FULL,
  N_ROWS
};

#define NO_ROW N_ROWS

static const CounterRow pressure_rows[] = {
  [ROW_CPU] = { "Pressure", "CPU", N_ ("Tasks waited for a CPU"), COUNTER_RATE,
                PERCENT_OF_TIME },
  [ROW_MEMORY] = { "Pressure", "Memory", N_ ("Tasks waited for memory"), COUNTER_RATE,
                   PERCENT_OF_TIME },
  [ROW_MEMORY_FULL] = { "Pressure", "Memory Full", N_ ("All tasks waited for memory"),
                        COUNTER_RATE, PERCENT_OF_TIME },
  [ROW_IO] = { "Pressure", "I/O", N_ ("Tasks waited for I/O"), COUNTER_RATE, PERCENT_OF_TIME },
  [ROW_IO_FULL] = { "Pressure", "I/O Full", N_ ("All tasks waited for I/O"), COUNTER_RATE,
                    PERCENT_OF_TIME },
  [ROW_IRQ_FULL] = { "Pressure", "Interrupts Full", N_ ("All tasks waited for interrupts"),
                     COUNTER_RATE, PERCENT_OF_TIME },
};
static_assert (G_N_ELEMENTS (pressure_rows) == N_ROWS, "a row for each");

static const struct
{
  unsigned some;
  unsigned full; /* for CPUs it is meaningless for the whole system */
} rows_of_path[] = {
  [PATH_CPU] = { ROW_CPU, NO_ROW },
  [PATH_MEMORY] = { ROW_MEMORY, ROW_MEMORY_FULL },
  [PATH_IO] = { ROW_IO, ROW_IO_FULL },
  [PATH_IRQ] = { NO_ROW, ROW_IRQ_FULL },
};
static_assert (G_N_ELEMENTS (rows_of_path) == N_PATHS, "rows for each path");

bool
sysprof_pressure_parse (Text text, StallSums *sums)
{
  Text line;

  *sums = (StallSums){ 0 };
  while (sysprof_text_next_line (&text, &line))
    if (sysprof_text_skip (&line, "some "))
      {
        if (!sysprof_text_u64_after (line, "total=", &sums->some_usec))
          return false;
        sums->has_some = true;
      }
    else if (sysprof_text_skip (&line, "full "))
      {
        if (!sysprof_text_u64_after (line, "total=", &sums->full_usec))
          return false;
        sums->has_full = true;
      }

  return sums->has_some || sums->has_full;
}

static bool
parse_pressure (unsigned path, Text text, CounterValues *values)
{
  StallSums sums;

  if (!sysprof_pressure_parse (text, &sums))
    return false;

  if (sums.has_some && rows_of_path[path].some != NO_ROW)
    sysprof_counter_values_set (values, rows_of_path[path].some, (double) sums.some_usec);
  if (sums.has_full && rows_of_path[path].full != NO_ROW)
    sysprof_counter_values_set (values, rows_of_path[path].full, (double) sums.full_usec);
  return true;
}

const SampledCounters sysprof_pressure_counters = {
  .name = "Pressure",
  .title = N_ ("pressure"),
  .paths = { [PATH_CPU] = "/proc/pressure/cpu",
             [PATH_MEMORY] = "/proc/pressure/memory",
             [PATH_IO] = "/proc/pressure/io",
             [PATH_IRQ] = "/proc/pressure/irq" },
  .absence =
      "'/proc/pressure' does not exist or cannot be read: this kernel is older than 4.20, "
      "was built without CONFIG_PSI, or has pressure turned off. Boot it with 'psi=1'.",
  .interval = 500 * MSEC, /* short stalls in between still count in the sums */
  .rows = pressure_rows,
  .n_rows = G_N_ELEMENTS (pressure_rows),
  .parse = parse_pressure,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofPressure,
                                 sysprof_pressure,
                                 &sysprof_pressure_counters,
                                 &sysprof_pressure_group_counters)

const InstrumentRow sysprof_pressure_row = {
  .by_default = INSTRUMENT_OPTIONAL,
  .options = { { "pressure", "Record pressure counters (default where available)" },
               { "no-pressure", "Do not record pressure counters", .omits = true } },
  .manual =
      "Record how much of the time tasks waited for a CPU, memory, or I/O. The values of the\n"
      "whole system are recorded twice a second, and those of each control group that waited\n"
      "once a second. The default is to record them where available; with \\fB--pressure\\fR a\n"
      "message reports unavailable values.",
  .new = sysprof_pressure_new,
};
