// SPDX-License-Identifier: GPL-3.0-or-later

/* Completed operations of each block device, their bytes, and the time during which any were in
 * progress.
 *
 * Partitions, and devices that consist of others (device mapper, RAID, loop devices), pass
 * their operations on to other devices. They have counters of their own, but "Combined" counts
 * each operation once.
 *
 * Source: Linux, Documentation/admin-guide/iostats.rst. */

#include "record/counters/sampled-counters.h"

#include <dirent.h>

enum
{
  ROW_READS,
  ROW_WRITES,
  ROW_BYTES_READ,
  ROW_BYTES_WRITTEN,
  ROW_BUSY,
};

/* Indexes of the numbers after the device name. */
enum
{
  COLUMN_READS,
  COLUMN_SECTORS_READ = 2,
  COLUMN_WRITES = 4,
  COLUMN_SECTORS_WRITTEN = 6,
  COLUMN_BUSY = 9, /* ms */
  N_COLUMNS
};

#define SECTOR          512.0 /* bytes; independent of the device's own sector size */
#define PERCENT_OF_TIME 0.1   /* from ms per second */

static const CounterRow disk_rows[] = {
  { "Disk", "Total Reads (Combined)", "Combined", COUNTER_GROWTH, .sum_of = ROW_READS + 1 },
  { "Disk", "Total Writes (Combined)", "Combined", COUNTER_GROWTH, .sum_of = ROW_WRITES + 1 },
  { "Disk", "Bytes Read (Combined)", "Combined", COUNTER_GROWTH, SECTOR, ROW_BYTES_READ + 1 },
  { "Disk", "Bytes Written (Combined)", "Combined", COUNTER_GROWTH, SECTOR,
    ROW_BYTES_WRITTEN + 1 },
};

static const CounterRow disk_instance_rows[] = {
  [ROW_READS] = { "Disk", "Total Reads (%s)", "%s", COUNTER_GROWTH },
  [ROW_WRITES] = { "Disk", "Total Writes (%s)", "%s", COUNTER_GROWTH },
  [ROW_BYTES_READ] = { "Disk", "Bytes Read (%s)", "%s", COUNTER_GROWTH, SECTOR },
  [ROW_BYTES_WRITTEN] = { "Disk", "Bytes Written (%s)", "%s", COUNTER_GROWTH, SECTOR },
  [ROW_BUSY] = { "Disk", "Busy (%s)", "%s", COUNTER_RATE, PERCENT_OF_TIME },
};

static bool
take_number (Text *line, uint64_t *number)
{
  Text word;

  return sysprof_text_next_word (line, &word) && sysprof_text_u64 (&word, number) &&
         sysprof_text_size (word) == 0;
}

static bool
parse_diskstats (unsigned path, Text text, CounterValues *values)
{
  Text line;

  while (sysprof_text_next_line (&text, &line))
    {
      uint64_t ignored, columns[N_COLUMNS] = { 0 };
      unsigned n = 0;
      Text name;
      CounterInstance *disk;

      if (!take_number (&line, &ignored) || !take_number (&line, &ignored) ||
          !sysprof_text_next_word (&line, &name))
        return false;
      while (n < N_COLUMNS && take_number (&line, &columns[n]))
        n++;
      if (n <= COLUMN_WRITES)
        return false;

      disk = sysprof_counter_values_instance (values, name);
      if (disk == NULL)
        continue;
      sysprof_counter_instance_set (disk, ROW_READS, (double) columns[COLUMN_READS]);
      sysprof_counter_instance_set (disk, ROW_WRITES, (double) columns[COLUMN_WRITES]);
      /* Most systems have many unused devices, for instance eight loop devices. */
      if (n < N_COLUMNS || columns[COLUMN_READS] + columns[COLUMN_WRITES] == 0)
        continue;
      sysprof_counter_instance_set (disk, ROW_BYTES_READ,
                                    (double) columns[COLUMN_SECTORS_READ]);
      sysprof_counter_instance_set (disk, ROW_BYTES_WRITTEN,
                                    (double) columns[COLUMN_SECTORS_WRITTEN]);
      sysprof_counter_instance_set (disk, ROW_BUSY, (double) columns[COLUMN_BUSY]);
    }

  return true;
}

static bool
has_entries (const char *path)
{
  DIR *dir = opendir (path);
  const struct dirent *entry;
  bool found = false;

  if (dir == NULL)
    return false;
  while (!found && (entry = readdir (dir)) != NULL)
    found = entry->d_name[0] != '.';
  (void) closedir (dir);
  return found;
}

static bool
is_part_of_other (Privilege *machine, const char *name)
{
  g_autofree char *entry = g_strdelimit (g_strdup (name), "/", '!'); /* spelled as in sysfs */
  g_autofree char *device =
      g_strdup_printf ("%s/sys/class/block/%s", sysprof_privilege_get_root (machine), entry);
  g_autofree char *partition = g_build_filename (device, "partition", NULL);
  g_autofree char *backing_file = g_build_filename (device, "loop", "backing_file", NULL);
  g_autofree char *slaves = g_build_filename (device, "slaves", NULL);

  return access (partition, F_OK) == 0 || access (backing_file, F_OK) == 0 ||
         has_entries (slaves);
}

const SampledCounters sysprof_disk_usage_counters = {
  .name = "Disk Usage",
  .title = N_ ("disk usage"),
  .paths = { "/proc/diskstats" },
  .interval = 500 * MSEC,
  .rows = disk_rows,
  .n_rows = G_N_ELEMENTS (disk_rows),
  .instance_rows = disk_instance_rows,
  .n_instance_rows = G_N_ELEMENTS (disk_instance_rows),
  .parse = parse_diskstats,
  .is_part = is_part_of_other,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofDiskUsage,
                                 sysprof_disk_usage,
                                 &sysprof_disk_usage_counters)

const InstrumentRow sysprof_disk_usage_row = {
  .by_default = INSTRUMENT_ON,
  .options = { { "no-disk", "Do not record disk counters", .omits = true } },
  .new = sysprof_disk_usage_new,
};
