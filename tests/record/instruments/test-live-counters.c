// SPDX-License-Identifier: GPL-3.0-or-later

/* The counters of this machine, against what stdio reads from the kernel's files just before and just after: what
 * we say must lie between the two. */

#include "tests/record/counters/counter-bench.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

extern const SampledCounters sysprof_cpu_usage_counters;
extern const SampledCounters sysprof_disk_usage_counters;
extern const SampledCounters sysprof_memory_usage_counters;
extern const SampledCounters sysprof_network_usage_counters;
extern const SampledCounters sysprof_own_usage_counters;
extern const SampledCounters sysprof_pressure_counters;
extern const SampledCounters sysprof_pressure_group_counters;

typedef struct
{
  char name[64];
  uint64_t first;
  uint64_t second;
} Line;

#define MAX_LINES    256
#define MOST_SECONDS 60 /* until the kernel counts what was done; usually two */

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
  g_assert_cmpfloat (value, >=, low - 0.001); /* it is written with three decimals */
  g_assert_cmpfloat (value, <=, high + 0.001);
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

/* µs, of the line "some". */
static double
read_stall (const char *path)
{
  FILE *file = fopen (path, "re");
  uint64_t total;

  g_assert_nonnull (file);
  g_assert_cmpint (fscanf (file, "some avg10=%*f avg60=%*f avg300=%*f total=%" SCNu64, &total),
                   ==, 1);
  g_assert_cmpint (fclose (file), ==, 0);
  return (double) total;
}

static void
test_pressure (void)
{
  static const struct
  {
    const char *path;
    const char *name;
  } resources[] = {
    { "/proc/pressure/cpu", "CPU" },
    { "/proc/pressure/memory", "Memory" },
    { "/proc/pressure/io", "I/O" },
  };
  CounterBench bench = { 0 };
  double sums[4][G_N_ELEMENTS (resources)];

  if (access ("/proc/pressure/cpu", R_OK) != 0)
    {
      g_test_skip ("this kernel keeps no pressure");
      return;
    }

  bench_begin (&bench, &sysprof_pressure_counters);
  for (unsigned step = 0; step < 4; step += 2)
    {
      for (unsigned i = 0; i < G_N_ELEMENTS (resources); i++)
        sums[step][i] = read_stall (resources[i].path);
      bench_read (&bench, 1 + step / 2);
      for (unsigned i = 0; i < G_N_ELEMENTS (resources); i++)
        sums[step + 1][i] = read_stall (resources[i].path);
      burn_cpu_time (0.05);
    }

  /* A second of the recorder's clock: stalled time is a share of it. */
  for (unsigned i = 0; i < G_N_ELEMENTS (resources); i++)
    assert_between ((sums[2][i] - sums[1][i]) / 1e4,
                    last_value (&bench, "Pressure", resources[i].name, ""),
                    (sums[3][i] - sums[0][i]) / 1e4);
  bench_clear (&bench);
}

/* Returns where the second version of cgroups is mounted, or NULL. *(full)* */
static char *
find_groups (void)
{
  FILE *file = fopen ("/proc/mounts", "re");
  char line[4096], place[1024], type[64];
  char *found = NULL;

  g_assert_nonnull (file);
  while (found == NULL && fgets (line, sizeof line, file) != NULL)
    if (sscanf (line, "%*s %1023s %63s", place, type) == 2 && g_str_equal (type, "cgroup2"))
      found = g_strdup (place);
  g_assert_cmpint (fclose (file), ==, 0);
  return found;
}

/* A process in the group, on the first CPU that we may use, until it is killed. */
static pid_t
start_busy (const char *processes)
{
  pid_t pid = fork ();
  FILE *file;
  cpu_set_t ours, one;

  g_assert_cmpint (pid, >=, 0);
  if (pid != 0)
    return pid;

  (void) prctl (PR_SET_PDEATHSIG, SIGKILL); /* a test that fails takes it along */
  file = fopen (processes, "we");
  if (file == NULL || fprintf (file, "%d\n", getpid ()) < 0 || fclose (file) != 0)
    _exit (1);
  CPU_ZERO (&one);
  if (sched_getaffinity (0, sizeof ours, &ours) != 0)
    _exit (1);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT (&one) == 0; cpu++)
    if (CPU_ISSET (cpu, &ours))
      CPU_SET (cpu, &one);
  if (sched_setaffinity (0, sizeof one, &one) != 0)
    _exit (1);
  for (;;)
    ;
}

/* Three that want one CPU: in their group there is always one that waits. */
static void
test_group (void)
{
  g_autofree char *mount = find_groups ();
  g_autofree char *name = g_strdup_printf ("sysprof-%d", getpid ());
  g_autofree char *group = g_build_filename (mount != NULL ? mount : "/", name, NULL);
  g_autofree char *processes = g_build_filename (group, "cgroup.procs", NULL);
  g_autofree char *pressure = g_build_filename (group, "cpu.pressure", NULL);
  CounterBench bench = { 0 };
  double sums[4];
  int64_t end;
  pid_t pids[3];

  if (mount == NULL || mkdir (group, 0755) != 0)
    {
      g_test_skip ("no cgroup can be made here: run as root, where version 2 is mounted");
      return;
    }
  if (access (pressure, R_OK) != 0)
    {
      g_assert_cmpint (rmdir (group), ==, 0);
      g_test_skip ("this kernel keeps no pressure of cgroups");
      return;
    }

  bench_begin (&bench, &sysprof_pressure_group_counters);
  bench_read (&bench, 1);
  for (unsigned i = 0; i < G_N_ELEMENTS (pids); i++)
    pids[i] = start_busy (processes);

  /* The kernel brings its sums up to date every two seconds, and when they are read. */
  end = g_get_monotonic_time () + MOST_SECONDS * G_TIME_SPAN_SECOND;
  do
    {
      burn_cpu_time (0.02);
      sums[0] = read_stall (pressure);
      g_assert_cmpint (g_get_monotonic_time (), <, end);
    }
  while (sums[0] < 1000);
  bench_read (&bench, 2);
  sums[1] = read_stall (pressure);
  burn_cpu_time (0.1);
  sums[2] = read_stall (pressure);
  bench_read (&bench, 3);
  sums[3] = read_stall (pressure);

  for (unsigned i = 0; i < G_N_ELEMENTS (pids); i++)
    {
      g_assert_cmpint (kill (pids[i], SIGKILL), ==, 0);
      g_assert_cmpint (waitpid (pids[i], NULL, 0), ==, pids[i]);
    }
  assert_between ((sums[2] - sums[1]) / 1e4, last_value (&bench, "Pressure", "CPU (%s)", name),
                  (sums[3] - sums[0]) / 1e4);
  g_assert_cmpfloat (sums[2], >, sums[1]);
  bench_clear (&bench);
  g_assert_cmpint (rmdir (group), ==, 0);
}

static void
test_own_usage (void)
{
  CounterBench bench = { 0 };

  bench_begin (&bench, &sysprof_own_usage_counters);
  bench_read (&bench, 1);
  burn_cpu_time (0.2);
  bench_read (&bench, 2);
  assert_between (19, last_value (&bench, "Recorder", "CPU", ""), 100);
  assert_between (1e5, last_value (&bench, "Recorder", "Memory", ""), 1e10);
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
  g_test_add_func ("/record/live-counters/own-usage", test_own_usage);
  g_test_add_func ("/record/live-counters/pressure", test_pressure);
  g_test_add_func ("/record/live-counters/group", test_group);
  return g_test_run ();
}
