// SPDX-License-Identifier: GPL-3.0-or-later

/* Pressure of the system and of a tree of cgroups, over texts as Linux 6.1 writes them. */

#include "tests/record/counters/counter-bench.h"
#include "tests/record/removed-files.h"

extern const SampledCounters sysprof_pressure_counters;
extern const SampledCounters sysprof_pressure_group_counters;

#define ROOT "/sys/fs/cgroup"

static void
write_stall (CounterBench *bench, const char *path, unsigned some_usec, unsigned full_usec)
{
  g_autofree char *text = g_strdup_printf ("some avg10=1.47 avg60=0.59 avg300=0.15 total=%u\n"
                                           "full avg10=0.00 avg60=0.00 avg300=0.00 total=%u\n",
                                           some_usec, full_usec);

  bench_write (bench, path, text);
}

static void
write_system (CounterBench *bench, unsigned cpu, unsigned memory, unsigned io)
{
  write_stall (bench, "/proc/pressure/cpu", cpu, 0);
  write_stall (bench, "/proc/pressure/memory", memory, memory / 2);
  write_stall (bench, "/proc/pressure/io", io, io / 4);
}

static void
test_system (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_system (&bench, 1000000, 0, 4000000);
  bench_write (&bench, "/proc/pressure/irq",
               "full avg10=0.01 avg60=0.00 avg300=0.00 total=50000\n");
  bench_open (&bench, &sysprof_pressure_counters);
  bench_read (&bench, 1);
  write_system (&bench, 1100000, 8000, 4050000);
  bench_write (&bench, "/proc/pressure/irq",
               "full avg10=0.01 avg60=0.00 avg300=0.00 total=52000\n");
  bench_read (&bench, 1.2);

  /* 100 ms of 200; 8 ms, half of them full; 50 ms, a quarter full. */
  bench_assert_series (&bench, "Pressure", "CPU", "1.2=50.000");
  bench_assert_series (&bench, "Pressure", "Memory", "1.2=4.000");
  bench_assert_series (&bench, "Pressure", "Memory Full", "1.2=2.000");
  bench_assert_series (&bench, "Pressure", "I/O", "1.2=25.000");
  bench_assert_series (&bench, "Pressure", "I/O Full", "1.2=6.250");
  bench_assert_series (&bench, "Pressure", "Interrupts Full", "1.2=1.000");
  bench_assert_series (&bench, "Pressure", "CPU Full", NULL);
  bench_clear (&bench);
}

static void
test_refuses (void)
{
  static const char *const broken[] = {
    "",
    "some avg10=0.12\ntotal=5\n",
    "some total=-5\n",
    "some total=99999999999999999999\n",
    "full avg10=0.00\n",
    "none total=5\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      CounterValues values = { 0 };

      g_test_message ("'%s'", broken[i]);
      g_assert_false (
          sysprof_pressure_counters.parse (1, sysprof_text_from_string (broken[i]), &values));
      g_assert_false (values.is_set[1]);
    }
}

static void
test_kernel_without (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_assert_refused (&bench, &sysprof_pressure_counters, "CONFIG_PSI");
  bench_clear (&bench);
}

static void
write_mounts (CounterBench *bench)
{
  bench_write (bench, "/proc/mounts",
               "proc /proc proc rw,nosuid 0 0\n"
               "cgroup2 " ROOT " cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0\n");
}

static void
write_group (CounterBench *bench, const char *group, unsigned cpu, unsigned io)
{
  g_autofree char *cpu_path = g_strconcat (ROOT, group, "/cpu.pressure", NULL);
  g_autofree char *memory_path = g_strconcat (ROOT, group, "/memory.pressure", NULL);
  g_autofree char *io_path = g_strconcat (ROOT, group, "/io.pressure", NULL);

  write_stall (bench, cpu_path, cpu, 0);
  write_stall (bench, memory_path, 0, 0);
  write_stall (bench, io_path, io, 0);
}

/* Nobody has waited so far, and no group is there. */
static void
begin_idle (CounterBench *bench)
{
  bench_init (bench);
  write_mounts (bench);
  write_system (bench, 0, 0, 0);
  bench_open (bench, &sysprof_pressure_group_counters);
  bench_read (bench, 1);
}

/* Only the group has waited for a CPU. */
static void
write_waits_of (CounterBench *bench, const char *group, unsigned usec)
{
  write_system (bench, usec, 0, 0);
  write_group (bench, group, usec, 0);
}

static void
test_groups_that_wait (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_mounts (&bench);
  write_system (&bench, 500, 0, 0);
  write_group (&bench, "/system.slice", 400, 0);
  write_group (&bench, "/system.slice/db.service", 300, 7000);
  write_group (&bench, "/user.slice", 100, 0);
  bench_open (&bench, &sysprof_pressure_group_counters);
  bench_read (&bench, 1);

  write_system (&bench, 200500, 0, 0);
  write_group (&bench, "/system.slice", 200400, 0);
  write_group (&bench, "/system.slice/db.service", 100300, 7000);
  bench_read (&bench, 2);
  bench_read (&bench, 3); /* no task waits */

  bench_assert_series (&bench, "Pressure", "CPU (system.slice)", "3=0.000");
  bench_assert_series (&bench, "Pressure", "CPU (db.service)", "3=0.000");
  bench_assert_series (&bench, "Pressure", "CPU (user.slice)", NULL);

  write_system (&bench, 300500, 0, 10000);
  write_group (&bench, "/system.slice", 250400, 10000);
  write_group (&bench, "/system.slice/db.service", 150300, 17000);
  bench_read (&bench, 4);
  bench_assert_series (&bench, "Pressure", "CPU (system.slice)", "3=0.000 4=5.000");
  bench_assert_series (&bench, "Pressure", "CPU (db.service)", "3=0.000 4=5.000");
  bench_assert_series (&bench, "Pressure", "I/O (db.service)", "3=0.000 4=1.000");
  bench_assert_complaint (&bench, NULL);
  bench_clear (&bench);
}

/* One that is made while we record, deleted, and made again: its sums begin at zero. */
static void
test_groups_come_and_go (void)
{
  CounterBench bench = { 0 };

  begin_idle (&bench);

  write_waits_of (&bench, "/job.scope", 50000);
  bench_read (&bench, 4);
  write_waits_of (&bench, "/job.scope", 150000);
  bench_read (&bench, 5);
  write_waits_of (&bench, "/job.scope", 350000);
  bench_read (&bench, 6);
  bench_assert_series (&bench, "Pressure", "CPU (job.scope)", "6=20.000");
  bench_clear (&bench);
}

/* The groups of a slice wait for a CPU at first; what they once waited for memory is not of now. */
static void
test_group_that_waited_before (void)
{
  CounterBench bench = { 0 };

  begin_idle (&bench);
  write_system (&bench, 1000, 0, 0);
  write_group (&bench, "/job.scope", 1000, 90000000);
  bench_read (&bench, 4); /* it is found: of its parent only the CPU has grown */
  write_system (&bench, 2000, 0, 0);
  write_group (&bench, "/job.scope", 2000, 90000000);
  bench_read (&bench, 5);
  write_system (&bench, 3000, 0, 10000);
  write_group (&bench, "/job.scope", 3000, 90010000);
  bench_read (&bench, 7);

  bench_assert_series (&bench, "Pressure", "I/O (job.scope)", "7=0.500");
  bench_clear (&bench);
}

/* More than there is room for at a time, but not at once. */
static void
test_many_groups_one_after_another (void)
{
  CounterBench bench = { 0 };
  g_autofree char *last = NULL;
  unsigned time = 1;

  begin_idle (&bench);
  for (unsigned round = 0; round < 4; round++)
    {
      for (unsigned i = 0; i < 150; i++)
        {
          g_autofree char *path = g_strdup_printf ("/jobs.slice/job-%u-%u.scope", round, i);

          write_group (&bench, path, 5, 0);
        }
      for (unsigned i = 0; i < 4; i++)
        {
          unsigned usec = ++time * 10000;

          write_waits_of (&bench, "/jobs.slice", usec);
          if (round == 3)
            write_group (&bench, "/jobs.slice/job-3-0.scope", usec, 0);
          bench_read (&bench, time);
        }
      if (round < 3)
        bench_remove_all (&bench, ROOT "/jobs.slice");
    }
  last = bench_series (&bench, "Pressure", "CPU (job-3-0.scope)");
  g_assert_nonnull (last);
  g_assert_true (g_str_has_suffix (last, "=1.000"));
  bench_assert_complaint (&bench, NULL);
  bench_clear (&bench);
}

static void
test_too_many_groups (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_mounts (&bench);
  write_system (&bench, 0, 0, 0);
  for (unsigned i = 0; i < 300; i++)
    {
      g_autofree char *path = g_strdup_printf ("/job-%u.scope", i);

      write_group (&bench, path, 5, 0);
    }
  bench_open (&bench, &sysprof_pressure_group_counters);
  bench_read (&bench, 1);
  bench_assert_complaint (&bench, "Recording the pressure of 255 cgroups");
  bench_clear (&bench);
}

/* Machines with many containers have tables of mounts of many pages. */
static void
test_long_table_of_mounts (void)
{
  g_autoptr (GString) mounts = g_string_new (NULL);
  CounterBench bench = { 0 };

  bench_init (&bench);
  for (unsigned i = 0; i < 2000; i++)
    g_string_append_printf (mounts, "overlay /var/lib/containers/%u/merged overlay rw 0 0\n",
                            i);
  g_string_append (mounts, "cgroup2 " ROOT " cgroup2 rw 0 0\n");
  bench_write (&bench, "/proc/mounts", mounts->str);
  write_system (&bench, 0, 0, 0);
  bench_open (&bench, &sysprof_pressure_group_counters);
  bench_clear (&bench);
}

static void
test_long_names (void)
{
  static const char name[] = "kubepods-burstable-pod0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice";
  g_autofree char *group = g_strconcat ("/", name, NULL);
  CounterBench bench = { 0 };

  bench_init (&bench);
  write_mounts (&bench);
  write_system (&bench, 0, 0, 0);
  write_group (&bench, group, 0, 0);
  bench_open (&bench, &sysprof_pressure_group_counters);
  for (unsigned i = 0; i < 3; i++)
    {
      write_waits_of (&bench, group, i * 1000);
      bench_read (&bench, 1 + i);
    }
  bench_assert_series (&bench, "Pressure", "Memory (kubepods-burstable-pod0)", NULL);
  bench_assert_series (&bench, "Pressure", "Memory (kubepods-burstable-pod)", "3=0.000");
  bench_clear (&bench);
}

static void
test_no_hierarchy (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/proc/mounts",
               "cgroup /sys/fs/cgroup/cpu cgroup rw,nosuid,nodev,noexec,relatime,cpu 0 0\n");
  bench_assert_refused (&bench, &sysprof_pressure_group_counters, "unified_cgroup_hierarchy");
  bench_clear (&bench);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/pressure/system", test_system);
  g_test_add_func ("/record/pressure/refuses", test_refuses);
  g_test_add_func ("/record/pressure/kernel-without", test_kernel_without);
  g_test_add_func ("/record/pressure/groups-that-wait", test_groups_that_wait);
  g_test_add_func ("/record/pressure/groups-come-and-go", test_groups_come_and_go);
  g_test_add_func ("/record/pressure/group-that-waited-before", test_group_that_waited_before);
  g_test_add_func ("/record/pressure/many-groups-one-after-another",
                   test_many_groups_one_after_another);
  g_test_add_func ("/record/pressure/too-many-groups", test_too_many_groups);
  g_test_add_func ("/record/pressure/long-table-of-mounts", test_long_table_of_mounts);
  g_test_add_func ("/record/pressure/long-names", test_long_names);
  g_test_add_func ("/record/pressure/no-hierarchy", test_no_hierarchy);
  return g_test_run ();
}
