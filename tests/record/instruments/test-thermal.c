// SPDX-License-Identifier: GPL-3.0-or-later

/* Sensors, throttle counts and cooling devices of a notebook and of a board with an ARM processor. */

#include "tests/record/counters/counter-bench.h"

extern const SampledCounters sysprof_temperature_counters;
extern const SampledCounters sysprof_throttle_counters;
extern const SampledCounters sysprof_cooling_counters;

#define CPU "/sys/devices/system/cpu/cpu"

static void
test_temperatures (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sys/class/hwmon/hwmon0/name", "coretemp\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon0/temp1_input", "61000\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon0/temp1_crit", "100000\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon0/temp2_input", "58500\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon0/temp2_label", "Core 0\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon1/name", "nvme\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon1/temp1_input", "-5850\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon1/fan1_input", "1200\n");
  bench_write (&bench, "/sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
  bench_write (&bench, "/sys/class/thermal/thermal_zone0/temp", "45776\n");
  bench_open (&bench, &sysprof_temperature_counters);
  bench_read (&bench, 1);
  bench_write (&bench, "/sys/class/hwmon/hwmon0/temp1_input", "99500\n");
  bench_write (&bench, "/sys/class/thermal/thermal_zone0/temp", "nonsense\n");
  bench_read (&bench, 2);

  bench_assert_series (&bench, "Temperature", "coretemp Package id 0", "1=61.000 2=99.500");
  bench_assert_series (&bench, "Temperature", "coretemp Core 0", "1=58.500 2=58.500");
  bench_assert_series (&bench, "Temperature", "nvme temp1", "1=-5.850 2=-5.850");
  bench_assert_series (&bench, "Temperature", "cpu-thermal", "1=45.776");
  bench_clear (&bench);
}

static void
test_sensors_come_and_go (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sys/class/hwmon/hwmon0/name", "acpitz\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon0/temp1_input", "40000\n");
  bench_open (&bench, &sysprof_temperature_counters);
  bench_read (&bench, 1);
  bench_write (&bench, "/sys/class/hwmon/hwmon4/name", "drivetemp\n");
  bench_write (&bench, "/sys/class/hwmon/hwmon4/temp1_input", "30000\n");
  bench_read (&bench, 2); /* not looked for yet */
  bench_read (&bench, 3);
  bench_remove_all (&bench, "/sys/class/hwmon/hwmon0");
  bench_read (&bench, 5);

  bench_assert_series (&bench, "Temperature", "acpitz temp1", "1=40.000 2=40.000 3=40.000");
  bench_assert_series (&bench, "Temperature", "drivetemp temp1", "3=30.000 5=30.000");
  bench_clear (&bench);
}

static void
write_throttled (CounterBench *bench, unsigned cpu, const char *part, unsigned n, unsigned ms)
{
  g_autofree char *count =
      g_strdup_printf (CPU "%u/thermal_throttle/%s_throttle_count", cpu, part);
  g_autofree char *time =
      g_strdup_printf (CPU "%u/thermal_throttle/%s_throttle_total_time_ms", cpu, part);
  g_autofree char *package = g_strdup_printf (CPU "%u/topology/physical_package_id", cpu);
  g_autofree char *n_text = g_strdup_printf ("%u\n", n);
  g_autofree char *ms_text = g_strdup_printf ("%u\n", ms);

  bench_write (bench, count, n_text);
  bench_write (bench, time, ms_text);
  bench_write (bench, package, "0\n");
}

static void
test_throttling (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  for (unsigned cpu = 0; cpu < 2; cpu++)
    {
      write_throttled (&bench, cpu, "core", 10, 500);
      write_throttled (&bench, cpu, "package", 20, 1000);
    }
  bench_write (&bench, "/sys/devices/system/cpu/cpufreq/boost", "1\n");
  bench_open (&bench, &sysprof_throttle_counters);
  bench_read (&bench, 1);
  write_throttled (&bench, 1, "core", 13, 750);
  for (unsigned cpu = 0; cpu < 2; cpu++)
    write_throttled (&bench, cpu, "package", 21, 1100);
  bench_read (&bench, 2);

  bench_assert_series (&bench, "Throttling", "CPU 0", "2=0.000");
  bench_assert_series (&bench, "Throttling", "CPU 1", "2=25.000");
  bench_assert_series (&bench, "Throttling Events", "CPU 1", "2=3");
  bench_assert_series (&bench, "Throttling", "Package 0", "2=10.000");
  bench_assert_series (&bench, "Throttling Events", "Package 0", "2=1");
  bench_clear (&bench);
}

static void
test_cooling (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sys/class/thermal/cooling_device0/type", "cpufreq-cpu0\n");
  bench_write (&bench, "/sys/class/thermal/cooling_device0/max_state", "8\n");
  bench_write (&bench, "/sys/class/thermal/cooling_device0/cur_state", "0\n");
  bench_write (&bench, "/sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
  bench_open (&bench, &sysprof_cooling_counters);
  bench_read (&bench, 1);
  bench_write (&bench, "/sys/class/thermal/cooling_device0/cur_state", "2\n");
  bench_read (&bench, 2);

  bench_assert_series (&bench, "Cooling", "cpufreq-cpu0 0", "1=0.000 2=25.000");
  bench_clear (&bench);
}

static void
test_none (void)
{
  static const struct
  {
    const SampledCounters *counters;
    const char *words;
  } sources[] = {
    { &sysprof_temperature_counters, "sensors-detect" },
    { &sysprof_throttle_counters, "thermal_throttle" },
    { &sysprof_cooling_counters, "/sys/class/thermal" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (sources); i++)
    {
      CounterBench bench = { 0 };

      bench_init (&bench);
      bench_assert_refused (&bench, sources[i].counters, sources[i].words);
      bench_clear (&bench);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/thermal/temperatures", test_temperatures);
  g_test_add_func ("/record/thermal/sensors-come-and-go", test_sensors_come_and_go);
  g_test_add_func ("/record/thermal/throttling", test_throttling);
  g_test_add_func ("/record/thermal/cooling", test_cooling);
  g_test_add_func ("/record/thermal/none", test_none);
  return g_test_run ();
}
