// SPDX-License-Identifier: GPL-3.0-or-later

/* The usage and the frequency of each CPU. These are two sources, because many machines (most
 * virtual ones) do not report frequencies.
 *
 * For each CPU the kernel counts the ticks spent in user code, in the kernel, in interrupts,
 * idle and so on. The columns "guest" and "guest_nice" are included in "user" and "nice". Time
 * waiting for I/O counts as idle. Time stolen by the hypervisor counts as busy, because a task
 * wanted the CPU.
 *
 * Source: proc(5), /proc/stat; Linux, Documentation/admin-guide/pm/cpufreq.rst. */

#include "record/counters/sampled-counters.h"

enum
{
  ROW_COMBINED,
};

enum
{
  ROW_PERCENT,
};

enum
{
  ROW_FREQUENCY,
};

#define CPUS "/sys/devices/system/cpu"

enum
{
  PATH_MAX_FREQUENCY,
  PATH_FREQUENCY,
};

/* user nice system idle iowait irq softirq steal; Linux 2.6 added the last three */
#define N_COLUMNS     8
#define COLUMN_IDLE   3
#define COLUMN_IOWAIT 4

static const CounterRow cpu_rows[] = {
  [ROW_COMBINED] = { "CPU Percent", "Combined", N_ ("Combined CPU usage"), COUNTER_PERCENT },
};

static const CounterRow cpu_instance_rows[] = {
  [ROW_PERCENT] = { "CPU Percent", "Total CPU %s", N_ ("Total CPU usage %s"), COUNTER_PERCENT },
};

static const CounterRow frequency_rows[] = {
  [ROW_FREQUENCY] = { "CPU Frequency", "CPU %s", N_ ("Frequency of CPU %s"), COUNTER_RATIO },
};

static bool
parse_ticks (Text line, double *busy, double *all)
{
  uint64_t columns[N_COLUMNS] = { 0 };
  Text word;
  unsigned n = 0;

  while (n < N_COLUMNS && sysprof_text_next_word (&line, &word))
    if (!sysprof_text_u64 (&word, &columns[n++]) || sysprof_text_size (word) > 0)
      return false;

  *all = 0;
  for (unsigned i = 0; i < N_COLUMNS; i++)
    *all += (double) columns[i];
  *busy = *all - (double) columns[COLUMN_IDLE] - (double) columns[COLUMN_IOWAIT];
  return n > COLUMN_IDLE;
}

static bool
parse_stat (unsigned path, Text text, CounterValues *values)
{
  Text line;
  bool has_combined = false;

  while (sysprof_text_next_line (&text, &line) && sysprof_text_skip (&line, "cpu"))
    {
      double busy, all;
      Text name = line;
      uint64_t number;

      if (sysprof_text_starts_with (line, " "))
        {
          if (!parse_ticks (line, &busy, &all))
            return false;
          sysprof_counter_values_set_share (values, ROW_COMBINED, busy, all);
          has_combined = true;
        }
      else
        {
          CounterInstance *cpu;

          if (!sysprof_text_u64 (&line, &number))
            return false;
          name.end = line.at;
          if (!parse_ticks (line, &busy, &all))
            return false;

          cpu = sysprof_counter_values_instance (values, name);
          if (cpu != NULL)
            sysprof_counter_instance_set_share (cpu, ROW_PERCENT, busy, all);
        }
    }

  return has_combined;
}

typedef struct
{
  Privilege *machine;
  CounterValues *values;
} Search;

static void
add_frequency (const char *name, void *data)
{
  const Search *search = data;
  g_autofree char *path = g_strdup_printf (CPUS "/%s/cpufreq/cpuinfo_max_freq", name);
  Text text = sysprof_text_from_string (name);
  Text number;
  uint64_t cpu;
  char value[32];

  if (!sysprof_text_skip (&text, "cpu"))
    return;
  number = text;
  if (sysprof_text_u64 (&text, &cpu) && sysprof_text_size (text) == 0 &&
      sysprof_counter_read_line (search->machine, path, value, sizeof value))
    (void) sysprof_counter_values_instance (search->values, number);
}

static void
find_frequencies (Privilege *machine, CounterValues *values)
{
  Search search = { machine, values };

  /* `absence` reports that there is none */
  (void) sysprof_counter_list (machine, CPUS, add_frequency, &search);
}

static void
parse_frequency (unsigned path, Text text, CounterInstance *cpu)
{
  uint64_t khz;

  if (!sysprof_text_u64 (&text, &khz))
    return;

  if (path == PATH_MAX_FREQUENCY)
    cpu->wholes[ROW_FREQUENCY] = (double) khz;
  else
    sysprof_counter_instance_set_share (cpu, ROW_FREQUENCY, (double) khz,
                                        cpu->wholes[ROW_FREQUENCY]);
}

const SampledCounters sysprof_cpu_usage_counters = {
  .name = "CPU Usage",
  .title = N_ ("CPU usage"),
  .paths = { "/proc/stat" },
  .files = { "/proc/cpuinfo" },
  .interval = 200 * MSEC,
  .rows = cpu_rows,
  .n_rows = G_N_ELEMENTS (cpu_rows),
  .instance_rows = cpu_instance_rows,
  .n_instance_rows = G_N_ELEMENTS (cpu_instance_rows),
  .parse = parse_stat,
};

const SampledCounters sysprof_cpu_frequency_counters = {
  .name = "CPU Frequency",
  .title = N_ ("CPU frequencies"),
  .absence = "there is no file '" CPUS "/cpu*/cpufreq/cpuinfo_max_freq'. Virtual machines usually do not "
             "report frequencies: record on the host. On hardware, load the cpufreq driver of the "
             "processor.",
  .interval = 200 * MSEC,
  .instance_rows = frequency_rows,
  .n_instance_rows = G_N_ELEMENTS (frequency_rows),
  .find = find_frequencies,
  .instance_paths = {
    [PATH_MAX_FREQUENCY] = CPUS "/cpu%s/cpufreq/cpuinfo_max_freq",
    [PATH_FREQUENCY] = CPUS "/cpu%s/cpufreq/scaling_cur_freq",
  },
  .n_constant = 1,
  .parse_instance = parse_frequency,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofCpuUsage,
                                 sysprof_cpu_usage,
                                 &sysprof_cpu_usage_counters,
                                 &sysprof_cpu_frequency_counters)

const InstrumentRow sysprof_cpu_usage_row = {
  .by_default = INSTRUMENT_OPTIONAL,
  .options = { { "no-cpu", "Do not record CPU counters", .omits = true } },
  .new = sysprof_cpu_usage_new,
};
