// SPDX-License-Identifier: GPL-3.0-or-later

/* CPU usage and frequencies from recorded texts of /proc and /sys. */

#include "tests/record/counters/counter-bench.h"

extern const SampledCounters sysprof_cpu_usage_counters;
extern const SampledCounters sysprof_cpu_frequency_counters;

/* As a kernel of 2 CPUs writes it; only the first lines are ours. */
#define TAIL "intr 487349 0 0\nctxt 1020\nbtime 1700000000\nprocesses 1234\n"

static void
test_share_of_time (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  /*                              user nice system idle iowait irq softirq steal guest guest_nice */
  bench_write (&bench, "/proc/stat",
               "cpu  1000 0 500 8000 100 0 0 0 0 0\n"
               "cpu0 500 0 250 4000 50 0 0 0 0 0\n"
               "cpu1 500 0 250 4000 50 0 0 0 0 0\n" TAIL);
  bench_open (&bench, &sysprof_cpu_usage_counters);
  bench_read (&bench, 1);
  /* cpu0: 20 of 20 ticks busy; cpu1: 5 of 20, the rest idle and waiting. */
  bench_write (&bench, "/proc/stat",
               "cpu  1015 1 505 8010 105 1 2 1 15 0\n"
               "cpu0 510 1 255 4000 50 1 2 1 10 0\n"
               "cpu1 505 0 250 4010 55 0 0 0 5 0\n" TAIL);
  bench_read (&bench, 1.2);

  bench_assert_series (&bench, "CPU Percent", "Total CPU 0", "1.2=100.000");
  bench_assert_series (&bench, "CPU Percent", "Total CPU 1", "1.2=25.000");
  bench_assert_series (&bench, "CPU Percent", "Combined", "1.2=62.500");
  bench_clear (&bench);
}

/* Linux lets the time waiting for I/O run backwards, and the sum with it. */
static void
test_idle_time_that_shrinks (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/proc/stat", "cpu  100 0 0 100 50 0 0 0 0 0\n");
  bench_open (&bench, &sysprof_cpu_usage_counters);
  bench_read (&bench, 1);
  bench_write (&bench, "/proc/stat", "cpu  110 0 0 100 45 0 0 0 0 0\n");
  bench_read (&bench, 2);
  bench_write (&bench, "/proc/stat", "cpu  110 0 0 100 45 0 0 0 0 0\n");
  bench_read (&bench, 3);
  bench_write (&bench, "/proc/stat", "cpu  111 0 0 103 45 0 0 0 0 0\n");
  bench_read (&bench, 4);

  bench_assert_series (&bench, "CPU Percent", "Combined", "2=100.000 4=25.000");
  bench_clear (&bench);
}

#define CPU1    "/sys/devices/system/cpu/cpu1"
#define CPUFREQ "/sys/devices/system/cpu/cpu1/cpufreq/"

static void
test_unplugged_and_plugged_in (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/proc/stat", "cpu  10 0 0 10 0\ncpu0 5 0 0 5 0\ncpu1 5 0 0 5 0\n");
  bench_open (&bench, &sysprof_cpu_usage_counters);
  bench_read (&bench, 1);
  bench_write (&bench, "/proc/stat", "cpu  30 0 0 10 0\ncpu0 15 0 0 5 0\ncpu1 15 0 0 5 0\n");
  bench_read (&bench, 2);

  bench_write (&bench, "/proc/stat", "cpu  30 0 0 20 0\ncpu0 15 0 0 15 0\n");
  bench_read (&bench, 3);

  bench_write (&bench, "/proc/stat", "cpu  30 0 0 40 0\ncpu0 15 0 0 25 0\ncpu1 15 0 0 6 0\n");
  bench_read (&bench, 4);
  bench_write (&bench, "/proc/stat", "cpu  30 0 0 60 0\ncpu0 15 0 0 35 0\ncpu1 16 0 0 7 0\n");
  bench_read (&bench, 5);

  bench_assert_series (&bench, "CPU Percent", "Total CPU 0",
                       "2=100.000 3=0.000 4=0.000 5=0.000");
  bench_assert_series (&bench, "CPU Percent", "Total CPU 1", "2=100.000 5=50.000");
  bench_clear (&bench);
}

/* The directory of a CPU that is unplugged goes away; a search every two seconds finds that it is back. */
static void
test_frequency (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, CPUFREQ "cpuinfo_max_freq", "4000000\n");
  bench_write (&bench, CPUFREQ "scaling_cur_freq", "1000000\n");
  bench_write (&bench, "/sys/devices/system/cpu/cpufreq/boost", "1\n");
  bench_write (&bench, "/sys/devices/system/cpu/cpu0/online", "1\n");
  bench_open (&bench, &sysprof_cpu_frequency_counters);
  bench_read (&bench, 1);
  bench_write (&bench, CPUFREQ "scaling_cur_freq", "3000000\n");
  bench_read (&bench, 2);
  bench_remove_all (&bench, CPU1);
  bench_read (&bench, 3);
  bench_write (&bench, CPUFREQ "cpuinfo_max_freq", "2000000\n");
  bench_write (&bench, CPUFREQ "scaling_cur_freq", "500000\n");
  bench_read (&bench, 5);
  bench_read (&bench, 6);

  bench_assert_series (&bench, "CPU Frequency", "CPU 1", "1=25.000 2=75.000 5=25.000 6=25.000");
  bench_assert_series (&bench, "CPU Frequency", "CPU 0", NULL);
  bench_clear (&bench);
}

static void
test_says_why_frequencies_are_missing (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sys/devices/system/cpu/cpu0/online", "1\n");
  bench_assert_refused (
      &bench, &sysprof_cpu_frequency_counters,
      "there is no file '/sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq'");
  bench_clear (&bench);
}

static void
test_refuses (void)
{
  static const char *const broken[] = {
    "",
    "intr 1 2 3\n",
    "cpu\n",
    "cpu  \n",
    "cpu  1 2 3\n",
    "cpu  1 2 3 -4 5\n",
    "cpu  1 2 3 4x 5\n",
    "cpu  99999999999999999999 2 3 4 5\n",
    "cpu0 1 2 3 4 5\n", /* no sum over all */
    "cpu  1 2 3 4 5\ncpux 1 2 3 4 5\n",
    "cpu  1 2 3 4 5\ncpu/../1 1 2 3 4 5\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      CounterValues values = { 0 };

      g_test_message ("'%s'", broken[i]);
      g_assert_false (
          sysprof_cpu_usage_counters.parse (0, sysprof_text_from_string (broken[i]), &values));
      sysprof_counter_values_clear (&values);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/cpu-usage/share-of-time", test_share_of_time);
  g_test_add_func ("/record/cpu-usage/idle-time-that-shrinks", test_idle_time_that_shrinks);
  g_test_add_func ("/record/cpu-usage/unplugged-and-plugged-in", test_unplugged_and_plugged_in);
  g_test_add_func ("/record/cpu-usage/frequency", test_frequency);
  g_test_add_func ("/record/cpu-usage/says-why-frequencies-are-missing",
                   test_says_why_frequencies_are_missing);
  g_test_add_func ("/record/cpu-usage/refuses", test_refuses);
  return g_test_run ();
}
