// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/record/counter-bench.h"

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
  bench_clear (&bench);
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
  g_test_add_func ("/record/memory-usage/refuses", test_refuses);
  return g_test_run ();
}
