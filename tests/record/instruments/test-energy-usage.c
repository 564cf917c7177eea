// SPDX-License-Identifier: GPL-3.0-or-later

/* Energy as perf counts it on a machine with two packages and on one with single cores, and as powercap shows it. */

#include "tests/record/counters/counter-bench.h"
#include "tests/record/removed-files.h"

extern const SampledCounters sysprof_energy_usage_counters;

#define DEVICES "/sys/bus/event_source/devices"

static void
write_event (CounterBench *bench, const char *device, const char *event, const char *config)
{
  g_autofree char *path = g_strdup_printf (DEVICES "/%s/events/%s", device, event);
  g_autofree char *scale = g_strconcat (path, ".scale", NULL);
  g_autofree char *unit = g_strconcat (path, ".unit", NULL);

  bench_write (bench, path, config);
  bench_write (bench, scale, "2.3283064365386962890625e-10\n"); /* 2^-32 */
  bench_write (bench, unit, "Joules\n");
}

/* The numbers that read(2) on the event returns, in turn. */
static void
write_counts (CounterBench *bench, const char *event, const uint64_t *counts, size_t n)
{
  g_autofree char *path = g_strconcat (bench->root, "/events/", event, NULL);
  g_autofree char *dir = g_path_get_dirname (path);

  g_assert_cmpint (g_mkdir_with_parents (dir, 0700), ==, 0);
  g_assert_true (
      g_file_set_contents (path, (const char *) counts, (gssize) (n * sizeof *counts), NULL));
}

#define JOULE (UINT64_C (1) << 32)

static void
write_core_id (CounterBench *bench, unsigned cpu, unsigned core, unsigned package)
{
  g_autofree char *core_path =
      g_strdup_printf ("/sys/devices/system/cpu/cpu%u/topology/core_id", cpu);
  g_autofree char *package_path =
      g_strdup_printf ("/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
  g_autofree char *core_text = g_strdup_printf ("%u\n", core);
  g_autofree char *package_text = g_strdup_printf ("%u\n", package);

  bench_write (bench, core_path, core_text);
  bench_write (bench, package_path, package_text);
}

static void
test_two_packages (void)
{
  static const uint64_t first[] = { 100 * JOULE, 150 * JOULE, 190 * JOULE };
  static const uint64_t second[] = { 7 * JOULE, 17 * JOULE, 22 * JOULE };
  static const uint64_t ram[] = { 0, 3 * JOULE / 2, 4 * JOULE };
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, DEVICES "/power/type", "23\n");
  bench_write (&bench, DEVICES "/power/cpumask", "0,18\n");
  write_event (&bench, "power", "energy-pkg", "event=0x02\n");
  write_event (&bench, "power", "energy-ram", "event=0x03\n");
  write_core_id (&bench, 0, 0, 0);
  write_core_id (&bench, 18, 4, 1);
  write_counts (&bench, "23-2-0", first, G_N_ELEMENTS (first));
  write_counts (&bench, "23-2-18", second, G_N_ELEMENTS (second));
  write_counts (&bench, "23-3-0", ram, G_N_ELEMENTS (ram));
  bench_open (&bench, &sysprof_energy_usage_counters);
  bench_read (&bench, 1);
  bench_read (&bench, 2);
  bench_read (&bench, 4);

  bench_assert_series (&bench, "RAPL 0:0", "Package Watt (0:0)", "2=50.000 4=20.000");
  bench_assert_series (&bench, "RAPL 4:18", "Package Watt (4:18)", "2=10.000 4=2.500");
  bench_assert_series (&bench, "RAPL", "Package Watt", "2=60.000 4=22.500");
  bench_assert_series (&bench, "RAPL", "RAM Watt", "2=1.500 4=1.250");
  bench_assert_series (&bench, "RAPL", "GFX Watt", NULL);
  bench_clear (&bench);
}

/* AMD: a device of its own for cores. */
static void
test_single_cores (void)
{
  static const uint64_t package[] = { 10 * JOULE, 40 * JOULE };
  static const uint64_t cores[][2] = { { 5 * JOULE, 15 * JOULE }, { 0, 5 * JOULE } };
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, DEVICES "/power/type", "12\n");
  bench_write (&bench, DEVICES "/power/cpumask", "0\n");
  write_event (&bench, "power", "energy-pkg", "event=0x02\n");
  bench_write (&bench, DEVICES "/power_core/type", "13\n");
  bench_write (&bench, DEVICES "/power_core/cpumask", "0-1\n");
  write_event (&bench, "power_core", "energy-core", "event=0x01\n");
  write_core_id (&bench, 0, 0, 0);
  write_core_id (&bench, 1, 1, 0);
  write_counts (&bench, "12-2-0", package, 2);
  write_counts (&bench, "13-1-0", cores[0], 2);
  write_counts (&bench, "13-1-1", cores[1], 2);
  bench_open (&bench, &sysprof_energy_usage_counters);
  bench_read (&bench, 1);
  bench_read (&bench, 2);

  bench_assert_series (&bench, "RAPL 0:0", "Core Watt (0:0)", "2=10.000");
  bench_assert_series (&bench, "RAPL 1:1", "Core Watt (1:1)", "2=5.000");
  bench_assert_series (&bench, "RAPL", "Core Watt", "2=15.000");
  bench_assert_series (&bench, "RAPL", "Package Watt", "2=30.000");
  bench_clear (&bench);
}

static void
write_zone (CounterBench *bench, const char *zone, const char *name, unsigned energy_uj)
{
  g_autofree char *dir = g_strconcat ("/sys/class/powercap/", zone, NULL);
  g_autofree char *name_path = g_strconcat (dir, "/name", NULL);
  g_autofree char *energy_path = g_strconcat (dir, "/energy_uj", NULL);
  g_autofree char *range_path = g_strconcat (dir, "/max_energy_range_uj", NULL);
  g_autofree char *energy = g_strdup_printf ("%u\n", energy_uj);

  bench_write (bench, name_path, name);
  bench_write (bench, energy_path, energy);
  bench_write (bench, range_path, "100000000\n");
}

static void
write_zones (CounterBench *bench, unsigned package_uj, unsigned dram_uj)
{
  write_zone (bench, "intel-rapl:0", "package-0\n", package_uj);
  write_zone (bench, "intel-rapl:0:0", "core\n", package_uj / 2);
  write_zone (bench, "intel-rapl:0:1", "dram\n", dram_uj);
  write_zone (bench, "intel-rapl:1", "psys\n", package_uj / 10);
  write_zone (bench, "intel-rapl-mmio:0", "package-0\n", package_uj);
}

/* The sum begins again behind max_energy_range_uj, which happens within the hour. */
static void
test_powercap (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_core_id (&bench, 0, 0, 0);
  write_core_id (&bench, 1, 1, 0);
  write_zones (&bench, 40000000, 1000000);
  bench_open (&bench, &sysprof_energy_usage_counters);
  bench_read (&bench, 1);
  write_zones (&bench, 90000000, 3000000);
  bench_read (&bench, 2);
  write_zones (&bench, 10000000, 4000000);
  bench_read (&bench, 3);

  bench_assert_series (&bench, "RAPL", "Package Watt", "2=50.000 3=20.000");
  bench_assert_series (&bench, "RAPL 0:0", "Package Watt (0:0)", "2=50.000 3=20.000");
  bench_assert_series (&bench, "RAPL", "RAM Watt", "2=2.000 3=1.000");
  bench_assert_series (&bench, "RAPL", "Core Watt", "2=25.000 3=60.000");
  bench_assert_series (&bench, "RAPL", "Platform Watt", "2=5.000 3=92.000");
  bench_clear (&bench);
}

/* Cascade Lake-AP: each package is two dies with energies of their own. */
static void
test_dies (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  for (unsigned cpu = 0; cpu < 4; cpu++)
    {
      g_autofree char *path =
          g_strdup_printf ("/sys/devices/system/cpu/cpu%u/topology/die_id", cpu);

      write_core_id (&bench, cpu, cpu, 0);
      bench_write (&bench, path, cpu < 2 ? "0\n" : "1\n");
    }
  for (unsigned i = 0; i < 2; i++)
    {
      write_zone (&bench, "intel-rapl:0", "package-0-die-0\n", i * 10000000);
      write_zone (&bench, "intel-rapl:0:0", "dram\n", i * 1000000);
      write_zone (&bench, "intel-rapl:1", "package-0-die-1\n", i * 30000000);
      write_zone (&bench, "intel-rapl:1:0", "dram\n", i * 2000000);
      if (i == 0)
        bench_open (&bench, &sysprof_energy_usage_counters);
      bench_read (&bench, 1 + i);
    }

  bench_assert_series (&bench, "RAPL 0:0", "Package Watt (0:0)", "2=10.000");
  bench_assert_series (&bench, "RAPL 2:2", "Package Watt (2:2)", "2=30.000");
  bench_assert_series (&bench, "RAPL 0:0", "RAM Watt (0:0)", "2=1.000");
  bench_assert_series (&bench, "RAPL 2:2", "RAM Watt (2:2)", "2=2.000");
  bench_assert_series (&bench, "RAPL", "Package Watt", "2=40.000");
  bench_clear (&bench);
}

static void
test_many_packages (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_core_id (&bench, 0, 0, 1);
  write_core_id (&bench, 10, 5, 10);
  for (unsigned i = 0; i < 2; i++)
    {
      write_zone (&bench, "intel-rapl:1", "package-1\n", i * 10000000);
      write_zone (&bench, "intel-rapl:1:0", "dram\n", i * 1000000);
      write_zone (&bench, "intel-rapl:10", "package-10\n", i * 30000000);
      write_zone (&bench, "intel-rapl:10:0", "dram\n", i * 2000000);
      if (i == 0)
        bench_open (&bench, &sysprof_energy_usage_counters);
      bench_read (&bench, 1 + i);
    }
  bench_assert_series (&bench, "RAPL 0:0", "RAM Watt (0:0)", "2=1.000");
  bench_assert_series (&bench, "RAPL 5:10", "Package Watt (5:10)", "2=30.000");
  bench_assert_series (&bench, "RAPL 5:10", "RAM Watt (5:10)", "2=2.000");
  bench_clear (&bench);
}

/* Its module is loaded again. */
static void
test_zone_is_replaced (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_core_id (&bench, 0, 0, 0);
  write_zone (&bench, "intel-rapl:0", "package-0\n", 90000000);
  bench_open (&bench, &sysprof_energy_usage_counters);
  bench_read (&bench, 1);
  write_zone (&bench, "intel-rapl:0", "package-0\n", 91000000);
  bench_read (&bench, 2);
  bench_remove_all (&bench, "/sys/class/powercap/intel-rapl:0");
  write_zone (&bench, "intel-rapl:0", "package-0\n", 5000000);
  bench_read (&bench, 3);
  bench_read (&bench, 4);
  write_zone (&bench, "intel-rapl:0", "package-0\n", 7000000);
  bench_read (&bench, 5);
  bench_assert_series (&bench, "RAPL 0:0", "Package Watt (0:0)", "2=1.000 5=2.000");
  bench_clear (&bench);
}

static void
test_none (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_assert_refused (&bench, &sysprof_energy_usage_counters, "modprobe intel_rapl_msr");
  bench_clear (&bench);
}

/* The events are announced, and opening them fails. */
static void
test_refused (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, DEVICES "/power/type", "12\n");
  bench_write (&bench, DEVICES "/power/cpumask", "0\n");
  write_event (&bench, "power", "energy-pkg", "event=0x02\n");
  bench_assert_refused (&bench, &sysprof_energy_usage_counters, "is denied");
  bench_clear (&bench);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/energy-usage/two-packages", test_two_packages);
  g_test_add_func ("/record/energy-usage/single-cores", test_single_cores);
  g_test_add_func ("/record/energy-usage/powercap", test_powercap);
  g_test_add_func ("/record/energy-usage/dies", test_dies);
  g_test_add_func ("/record/energy-usage/many-packages", test_many_packages);
  g_test_add_func ("/record/energy-usage/zone-is-replaced", test_zone_is_replaced);
  g_test_add_func ("/record/energy-usage/none", test_none);
  g_test_add_func ("/record/energy-usage/refused", test_refused);
  return g_test_run ();
}
