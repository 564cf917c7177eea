// SPDX-License-Identifier: GPL-3.0-or-later

/* Memory counters from recorded texts of /proc. */

#include "tests/record/counters/counter-bench.h"

extern const SampledCounters sysprof_memory_event_counters;
extern const SampledCounters sysprof_memory_usage_counters;

static void
test_bytes (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/proc/meminfo",
               "MemTotal:        8136992 kB\n"
               "MemFree:         5536116 kB\n"
               "MemAvailable:    7436992 kB\n"
               "Buffers:           75492 kB\n"
               "Cached:          1973644 kB\n"
               "SwapCached:           12 kB\n"
               "Active:           867936 kB\n"
               "SwapTotal:       1048572 kB\n"
               "SwapFree:        1048560 kB\n"
               "Mapped:           246184 kB\n"
               "Shmem:              3036 kB\n"
               "Dirty:               540 kB\n"
               "Writeback:            24 kB\n"
               "WritebackTmp:          1 kB\n"
               "AnonPages:        863204 kB\n"
               "Active(anon):     210148 kB\n"
               "SReclaimable:     143512 kB\n"
               "Committed_AS:    3151260 kB\n"
               "HugePages_Total:       0\n");
  bench_open (&bench, &sysprof_memory_usage_counters);
  bench_read (&bench, 1);

  bench_assert_series (&bench, "Memory", "Used", "1=716800000");
  bench_assert_series (&bench, "Memory", "Total", "1=8332279808");
  bench_assert_series (&bench, "Memory", "Available", "1=7615479808");
  bench_assert_series (&bench, "Memory", "Free", "1=5668982784");
  bench_assert_series (&bench, "Memory", "Buffers", "1=77303808");
  bench_assert_series (&bench, "Memory", "Cached", "1=2021011456");
  bench_assert_series (&bench, "Memory", "Swap Cached", "1=12288");
  bench_assert_series (&bench, "Memory", "Mapped", "1=252092416");
  bench_assert_series (&bench, "Memory", "Shmem", "1=3108864");
  bench_assert_series (&bench, "Memory", "Swap Total", "1=1073737728");
  bench_assert_series (&bench, "Memory", "Swap Free", "1=1073725440");
  bench_assert_series (&bench, "Memory", "Dirty", "1=552960");
  bench_assert_series (&bench, "Memory", "Writeback", "1=24576");
  bench_assert_series (&bench, "Memory", "Anonymous", "1=883920896");
  bench_assert_series (&bench, "Memory", "Active (anon)", "1=215191552");
  bench_assert_series (&bench, "Memory", "Slab Reclaimable", "1=146956288");
  bench_assert_series (&bench, "Memory", "Committed", "1=3226890240");
  /* A kernel without zswap. */
  bench_assert_series (&bench, "Memory", "Zswapped", NULL);
  bench_clear (&bench);
}

/* The counters of a machine that is short of memory. */
static void
test_events (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/proc/vmstat",
               "nr_free_pages 1384029\npgpgin 7291521\npswpin 100\npswpout 2000\n"
               "allocstall_dma 1\nallocstall_normal 10\nallocstall_movable 20\n"
               "pgfault 38541921\npgmajfault 30391\noom_kill 0\noom_kill_other 5\n");
  bench_open (&bench, &sysprof_memory_event_counters);
  bench_read (&bench, 1);
  bench_write (&bench, "/proc/vmstat",
               "nr_free_pages 1384029\npgpgin 7291521\npswpin 103\npswpout 2050\n"
               "allocstall_dma 1\nallocstall_normal 14\nallocstall_movable 22\n"
               "pgfault 38941921\npgmajfault 30491\noom_kill 1\noom_kill_other 9\n");
  bench_read (&bench, 1.5);

  bench_assert_series (&bench, "Memory Events", "Swapped In", "1.5=3");
  bench_assert_series (&bench, "Memory Events", "Swapped Out", "1.5=50");
  bench_assert_series (&bench, "Memory Events", "Direct Reclaims", "1.5=6");
  bench_assert_series (&bench, "Memory Events", "Major Faults", "1.5=100");
  bench_assert_series (&bench, "Memory Events", "OOM Kills", "1.5=1");
  bench_clear (&bench);
}

static void
test_refuses_events (void)
{
  static const char *const broken[] = {
    "pswpin\n", "pswpin \n", "pswpin -1\n", "pswpin 1x\n", "oom_kill 99999999999999999999\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      CounterValues values = { 0 };

      g_assert_false (sysprof_memory_event_counters.parse (
          0, sysprof_text_from_string (broken[i]), &values));
    }
}

static void
test_refuses (void)
{
  static const char *const broken[] = {
    "",
    "MemTotal: 8136992 kB\n",
    "MemTotal: 10 kB\nMemAvailable: 11 kB\n",
    "MemTotal: -10 kB\nMemAvailable: 1 kB\n",
    "MemTotal: 10 kB\n\nMemAvailable: 1 kB\n",
    "MemTotal: 99999999999999999999 kB\nMemAvailable: 1 kB\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      CounterValues values = { 0 };

      g_test_message ("'%s'", broken[i]);
      g_assert_false (sysprof_memory_usage_counters.parse (
          0, sysprof_text_from_string (broken[i]), &values));
      sysprof_counter_values_clear (&values);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/memory-usage/bytes", test_bytes);
  g_test_add_func ("/record/memory-usage/events", test_events);
  g_test_add_func ("/record/memory-usage/refuses", test_refuses);
  g_test_add_func ("/record/memory-usage/refuses-events", test_refuses_events);
  return g_test_run ();
}
