// SPDX-License-Identifier: GPL-3.0-or-later

/* The counters of this machine, against what stdio reads from the kernel's files just before and just after: what
 * we say must lie between the two. */

#include "tests/record/counter-bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

extern const SampledCounters sysprof_cpu_usage_counters;
extern const SampledCounters sysprof_disk_usage_counters;
extern const SampledCounters sysprof_memory_usage_counters;
extern const SampledCounters sysprof_network_usage_counters;

typedef struct
{
  char name[64];
  uint64_t first;
  uint64_t second;
} Line;

#define MAX_LINES 256

/* Name and two numbers of each line that has the `format`. */
static unsigned
read_lines (const char *path, const char *format, Line lines[MAX_LINES])
{
  FILE *file = fopen (path, "re");
  char text[4096];
  unsigned n = 0;

  g_assert_nonnull (file);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  while (n < MAX_LINES && fgets (text, sizeof text, file) != NULL)
    if (sscanf (text, format, lines[n].name, &lines[n].first, &lines[n].second) == 3)
      n++;
#pragma GCC diagnostic pop
  g_assert_cmpint (fclose (file), ==, 0);
  return n;
}

static const Line *
find_line (const Line lines[], unsigned n, const char *name)
{
  for (unsigned i = 0; i < n; i++)
    if (g_str_equal (lines[i].name, name))
      return &lines[i];
  return NULL;
}

static void
bench_begin (CounterBench *bench, const SampledCounters *counters)
{
  bench_init (bench);
  g_free (bench->root);
  bench->root = g_strdup ("");
  bench_open (bench, counters);
}

static double
last_value (CounterBench *bench, const char *category, const char *pattern, const char *name)
{
  g_auto (GStrv) parts = g_strsplit (pattern, "%s", 2);
  g_autofree char *whole = g_strconcat (parts[0], name, parts[1], NULL);
  g_autofree char *series = bench_series (bench, category, whole);
  const char *value;

  g_assert_nonnull (series);
  value = strrchr (series, '=');
  g_assert_nonnull (value);
  return g_ascii_strtod (value + 1, NULL);
}

static void
assert_between (double low, double value, double high)
{
  g_assert_cmpfloat (value, >=, low);
  g_assert_cmpfloat (value, <=, high);
}

static void
test_network (void)
{
  static const char format[] = " %63[^:]: %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64;
  CounterBench bench = { 0 };
  Line before[MAX_LINES], after[MAX_LINES];
  unsigned n_before, n_after;

  bench_begin (&bench, &sysprof_network_usage_counters);
  n_before = read_lines ("/proc/net/dev", format, before);
  bench_read (&bench, 1);
  n_after = read_lines ("/proc/net/dev", format, after);

  g_assert_cmpint (n_before, >, 0);
  for (unsigned i = 0; i < n_before; i++)
    {
      const Line *later = find_line (after, n_after, before[i].name);

      if (later == NULL)
        continue;
      assert_between ((double) before[i].first,
                      last_value (&bench, "Network", "RX Bytes (%s)", before[i].name),
                      (double) later->first);
      assert_between ((double) before[i].second,
                      last_value (&bench, "Network", "TX Bytes (%s)", before[i].name),
                      (double) later->second);
    }
  bench_clear (&bench);
}

static void
test_disk (void)
{
  static const char format[] = " %*u %*u %63s %" SCNu64 " %*u %*u %*u %" SCNu64;
  CounterBench bench = { 0 };
  Line before[MAX_LINES], between[MAX_LINES], after[MAX_LINES];
  unsigned n_before, n_between, n_after;

  bench_begin (&bench, &sysprof_disk_usage_counters);
  n_before = read_lines ("/proc/diskstats", format, before);
  bench_read (&bench, 1);
  n_between = read_lines ("/proc/diskstats", format, between);
  sync ();
  bench_read (&bench, 2);
  n_after = read_lines ("/proc/diskstats", format, after);

  for (unsigned i = 0; i < n_between; i++)
    {
      const Line *earlier = find_line (before, n_before, between[i].name);
      const Line *later = find_line (after, n_after, between[i].name);

      if (earlier == NULL || later == NULL)
        continue;
      assert_between (0, last_value (&bench, "Disk", "Total Reads (%s)", earlier->name),
                      (double) (later->first - earlier->first));
      assert_between (0, last_value (&bench, "Disk", "Total Writes (%s)", earlier->name),
                      (double) (later->second - earlier->second));
    }
  bench_clear (&bench);
}

static void
test_memory (void)
{
  CounterBench bench = { 0 };
  FILE *file = fopen ("/proc/meminfo", "re");
  uint64_t total_kib;

  g_assert_nonnull (file);
  g_assert_cmpint (fscanf (file, "MemTotal: %" SCNu64 " kB", &total_kib), ==, 1);
  g_assert_cmpint (fclose (file), ==, 0);

  bench_begin (&bench, &sysprof_memory_usage_counters);
  bench_read (&bench, 1);
  assert_between ((double) total_kib * 1024, last_value (&bench, "Memory", "Total", ""),
                  (double) total_kib * 1024);
  assert_between (1, last_value (&bench, "Memory", "Used", ""), (double) total_kib * 1024);
  bench_clear (&bench);
}

/* Ticks that all CPUs were busy, and all ticks. */
static void
read_ticks (double *busy, double *all)
{
  FILE *file = fopen ("/proc/stat", "re");
  uint64_t t[8];

  g_assert_nonnull (file);
  g_assert_cmpint (fscanf (file,
                           "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                           " %" SCNu64 " %" SCNu64 " %" SCNu64,
                           &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]),
                   ==, 8);
  g_assert_cmpint (fclose (file), ==, 0);
  *busy = (double) (t[0] + t[1] + t[2] + t[5] + t[6] + t[7]);
  *all = *busy + (double) (t[3] + t[4]);
}

static void
burn_cpu_time (double seconds)
{
  clock_t end = clock () + (clock_t) (seconds * CLOCKS_PER_SEC);

  while (clock () < end)
    ;
}

static void
test_cpu (void)
{
  CounterBench bench = { 0 };
  double busy[4], all[4];

  bench_begin (&bench, &sysprof_cpu_usage_counters);
  read_ticks (&busy[0], &all[0]);
  bench_read (&bench, 1);
  read_ticks (&busy[1], &all[1]);
  burn_cpu_time (0.2);
  read_ticks (&busy[2], &all[2]);
  bench_read (&bench, 2);
  read_ticks (&busy[3], &all[3]);

  /* The waiting for I/O may shrink by some ticks between two readings. */
  assert_between (100 * (busy[2] - busy[1]) / (all[3] - all[0] + 2),
                  last_value (&bench, "CPU Percent", "Combined", ""),
                  100 * (busy[3] - busy[0]) / (all[2] - all[1] - 2));
  bench_clear (&bench);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/live-counters/cpu", test_cpu);
  g_test_add_func ("/record/live-counters/disk", test_disk);
  g_test_add_func ("/record/live-counters/memory", test_memory);
  g_test_add_func ("/record/live-counters/network", test_network);
  return g_test_run ();
}
