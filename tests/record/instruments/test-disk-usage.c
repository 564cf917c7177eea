// SPDX-License-Identifier: GPL-3.0-or-later

/* Disk counters from recorded texts of /proc/diskstats. */

#include "tests/record/counters/counter-bench.h"

extern const SampledCounters sysprof_disk_usage_counters;

/* A disk with a partition, and a device-mapper volume on it (20 numbers a line since Linux 5.5). */
static void
write_stats (CounterBench *bench,
             unsigned disk_reads,
             unsigned disk_writes,
             unsigned volume_writes)
{
  g_autofree char *text = g_strdup_printf (
      " 259       0 nvme0n1 %u 12665 5605890 50720 %u 13613 3085504 21296 0 14892 73538 12268 30 "
      "417184 957 15542 563\n"
      " 259       1 nvme0n1p1 %u 0 100 1 %u 0 100 1 0 1 1 0 0 0 0 0 0\n"
      " 253       0 dm-0 7 0 100 1 %u 0 100 1 0 1 1 0 0 0 0 0 0\n",
      disk_reads, disk_writes, disk_reads, disk_writes, volume_writes);

  bench_write (bench, "/proc/diskstats", text);
}

static void
test_operations (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sys/class/block/nvme0n1p1/partition", "1\n");
  bench_write (&bench, "/sys/class/block/dm-0/slaves/nvme0n1p1/dev", "259:1\n");
  bench_write (&bench, "/sys/class/block/nvme0n1/dev", "259:0\n");
  write_stats (&bench, 70071, 71080, 3);
  bench_open (&bench, &sysprof_disk_usage_counters);
  bench_read (&bench, 1);
  write_stats (&bench, 70081, 71085, 8);
  bench_read (&bench, 1.5);

  bench_assert_series (&bench, "Disk", "Total Reads (nvme0n1)", "1.5=10");
  bench_assert_series (&bench, "Disk", "Total Writes (nvme0n1)", "1.5=5");
  bench_assert_series (&bench, "Disk", "Total Writes (nvme0n1p1)", "1.5=5");
  bench_assert_series (&bench, "Disk", "Total Writes (dm-0)", "1.5=5");
  /* Each operation once, though it passed through three devices. */
  bench_assert_series (&bench, "Disk", "Total Reads (Combined)", "1.5=10");
  bench_assert_series (&bench, "Disk", "Total Writes (Combined)", "1.5=5");
  bench_clear (&bench);
}

#define SDA(reads) "   8       0 sda " reads " 0 2000 50 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
#define SDB(reads) "   8      16 sdb " reads " 0 2000 50 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

/* Another disk may have the name of one that is gone: its operations until then are none of the time between. */
static void
test_come_and_go (void)
{
  static const char *const texts[] = {
    SDA ("100") SDB ("900"),
    SDA ("110"),
    SDA ("120") SDB ("3"),
    SDA ("130") SDB ("8"),
  };
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/proc/diskstats", texts[0]);
  bench_open (&bench, &sysprof_disk_usage_counters);
  bench_read (&bench, 1);
  for (size_t i = 1; i < G_N_ELEMENTS (texts); i++)
    {
      bench_write (&bench, "/proc/diskstats", texts[i]);
      bench_read (&bench, 1 + (double) i);
    }

  bench_assert_series (&bench, "Disk", "Total Reads (sda)", "2=10 3=10 4=10");
  bench_assert_series (&bench, "Disk", "Total Reads (sdb)", "4=5");
  bench_clear (&bench);
}

/* Sectors are 512 bytes on every device; a device is busy while any operation is under way. */
static void
test_bytes_and_busy (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/proc/diskstats",
               "   8       0 sda 100 0 2000 50 200 0 8000 90 0 1000 140 0 0 0 0 0 0\n"
               "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
  bench_open (&bench, &sysprof_disk_usage_counters);
  bench_read (&bench, 1);
  bench_write (&bench, "/proc/diskstats",
               "   8       0 sda 110 0 2400 50 220 0 8100 90 0 1300 140 0 0 0 0 0 0\n"
               "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
  bench_read (&bench, 1.5);

  bench_assert_series (&bench, "Disk", "Bytes Read (sda)", "1.5=204800");
  bench_assert_series (&bench, "Disk", "Bytes Written (sda)", "1.5=51200");
  bench_assert_series (&bench, "Disk", "Bytes Read (Combined)", "1.5=204800");
  bench_assert_series (&bench, "Disk", "Bytes Written (Combined)", "1.5=51200");
  bench_assert_series (&bench, "Disk", "Busy (sda)", "1.5=60.000");
  /* Nobody uses it. */
  bench_assert_series (&bench, "Disk", "Total Reads (loop0)", "1.5=0");
  bench_assert_series (&bench, "Disk", "Bytes Read (loop0)", NULL);
  bench_clear (&bench);
}

/* Linux 2.6 writes eleven numbers behind the name, and four for a partition. */
static void
test_short_lines (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/proc/diskstats", "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
  bench_open (&bench, &sysprof_disk_usage_counters);
  bench_read (&bench, 1);
  bench_write (&bench, "/proc/diskstats", "   8       0 sda 3 2 3 4 9 6 7 8 9 10 11\n");
  bench_read (&bench, 2);
  bench_assert_series (&bench, "Disk", "Total Reads (sda)", "2=2");
  bench_assert_series (&bench, "Disk", "Total Writes (sda)", "2=4");
  bench_clear (&bench);
}

static void
test_refuses (void)
{
  static const char *const broken[] = {
    "8\n",
    "8 0\n",
    "8 0 sda\n",
    "8 0 sda 1 2 3 4\n",
    "8 0 sda 1 2 3 4 -5\n",
    "8 0 sda one 2 3 4 5\n",
    "x 0 sda 1 2 3 4 5\n",
    "\n8 0 sda 1 2 3 4 5\n",
    "8 0 sda 99999999999999999999 2 3 4 5\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      CounterValues values = { 0 };

      g_test_message ("'%s'", broken[i]);
      g_assert_false (
          sysprof_disk_usage_counters.parse (0, sysprof_text_from_string (broken[i]), &values));
      sysprof_counter_values_clear (&values);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/disk-usage/operations", test_operations);
  g_test_add_func ("/record/disk-usage/come-and-go", test_come_and_go);
  g_test_add_func ("/record/disk-usage/bytes-and-busy", test_bytes_and_busy);
  g_test_add_func ("/record/disk-usage/short-lines", test_short_lines);
  g_test_add_func ("/record/disk-usage/refuses", test_refuses);
  return g_test_run ();
}
