// SPDX-License-Identifier: GPL-3.0-or-later

/* Batteries as several kinds of drivers report them: by charge, by energy, with and without
 * a voltage. */

#include "tests/record/counters/counter-bench.h"
#include "tests/record/removed-files.h"

extern const SampledCounters sysprof_battery_charge_counters;

static void
write_property (CounterBench *bench,
                const char *battery,
                const char *property,
                const char *value)
{
  g_autofree char *path = g_strdup_printf ("/sys/class/power_supply/%s/%s", battery, property);
  g_autofree char *text = g_strconcat (value, "\n", NULL);

  bench_write (bench, path, text);
}

/* A notebook's first battery tells charge and current, its second energy and power, and there are a mains adapter and a mouse. */
static void
write_machine (CounterBench *bench)
{
  write_property (bench, "AC", "type", "Mains");
  write_property (bench, "AC", "online", "0");

  write_property (bench, "BAT0", "type", "Battery");
  write_property (bench, "BAT0", "model_name", "DELL 7FR5J64  ");
  write_property (bench, "BAT0", "voltage_min_design", "11400000");
  write_property (bench, "BAT0", "voltage_now", "12000000");
  write_property (bench, "BAT0", "charge_now", "4500000");
  write_property (bench, "BAT0", "current_now", "-1500000");

  write_property (bench, "BAT1", "type", "Battery");
  write_property (bench, "BAT1", "voltage_min_design", "11400000");
  write_property (bench, "BAT1", "voltage_now", "12500000");
  write_property (bench, "BAT1", "energy_now", "22800000");
  write_property (bench, "BAT1", "power_now", "7250000");

  write_property (bench, "hidpp_battery_0", "type", "Battery");
  write_property (bench, "hidpp_battery_0", "scope", "Device");
  write_property (bench, "hidpp_battery_0", "charge_now", "500000");
}

static void
begin (CounterBench *bench)
{
  bench_init (bench);
  write_machine (bench);
  bench_open (bench, &sysprof_battery_charge_counters);
  bench_read (bench, 1);
}

static void
test_several (void)
{
  CounterBench bench = { 0 };

  begin (&bench);
  write_property (&bench, "BAT0", "charge_now", "4490000");
  write_property (&bench, "BAT1", "energy_now", "22230000");
  write_property (&bench, "BAT1", "power_now", "5000000");
  bench_read (&bench, 1.5);

  /* 22.8 Wh at 11.4 V are 2 Ah; 1.5 A at 12 V are 18 W, whichever way they flow. */
  bench_assert_series (&bench, "Battery Charge", "DELL 7FR5J64", "1=4500000 1.5=4490000");
  bench_assert_series (&bench, "Battery Charge", "BAT1", "1=2000000 1.5=1950000");
  bench_assert_series (&bench, "Battery Charge", "Combined", "1=6500000 1.5=6440000");
  bench_assert_series (&bench, "Battery Power", "DELL 7FR5J64", "1=18.000 1.5=18.000");
  bench_assert_series (&bench, "Battery Power", "BAT1", "1=7.250 1.5=5.000");
  bench_assert_series (&bench, "Battery Charge", "hidpp_battery_0", NULL);
  bench_assert_series (&bench, "Battery Charge", "AC", NULL);
  bench_clear (&bench);
}

static void
test_come_and_go (void)
{
  CounterBench bench = { 0 };

  begin (&bench);
  bench_remove_all (&bench, "/sys/class/power_supply/BAT1");
  bench_read (&bench, 4);
  write_machine (&bench);
  write_property (&bench, "BAT1", "energy_now", "11400000");
  write_property (&bench, "BAT2", "type", "Battery");
  write_property (&bench, "BAT2", "charge_now", "100");
  bench_read (&bench, 7);

  bench_assert_series (&bench, "Battery Charge", "DELL 7FR5J64",
                       "1=4500000 4=4500000 7=4500000");
  bench_assert_series (&bench, "Battery Charge", "BAT1", "1=2000000 7=1000000");
  bench_assert_series (&bench, "Battery Charge", "BAT2", "7=100");
  bench_assert_series (&bench, "Battery Charge", "Combined", "1=6500000 4=4500000 7=5500100");
  bench_clear (&bench);
}

/* Between two looks for what there is: it is never seen to be gone. */
static void
test_replaced_at_once (void)
{
  CounterBench bench = { 0 };

  begin (&bench);
  bench_remove_all (&bench, "/sys/class/power_supply/BAT1");
  bench_read (&bench, 1.5);
  bench_read (&bench, 2); /* not back yet */
  write_machine (&bench);
  write_property (&bench, "BAT1", "energy_now", "11400000");
  bench_read (&bench, 2.5);
  bench_read (&bench, 3);
  write_property (&bench, "BAT1", "energy_now", "22800000");
  bench_read (&bench, 3.5);

  bench_assert_series (&bench, "Battery Charge", "BAT1",
                       "1=2000000 2.5=1000000 3=1000000 3.5=2000000");
  bench_clear (&bench);
}

static void
test_no_battery (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_property (&bench, "AC", "type", "Mains");
  bench_assert_refused (&bench, &sysprof_battery_charge_counters, "has no battery");
  bench_clear (&bench);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/battery-charge/several", test_several);
  g_test_add_func ("/record/battery-charge/come-and-go", test_come_and_go);
  g_test_add_func ("/record/battery-charge/replaced-at-once", test_replaced_at_once);
  g_test_add_func ("/record/battery-charge/no-battery", test_no_battery);
  return g_test_run ();
}
