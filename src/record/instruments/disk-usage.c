// SPDX-License-Identifier: GPL-3.0-or-later

/* Completed operations of each block device.
 *
 * Partitions, and devices made of others (device mapper, RAID, loops over files), pass their operations on:
 * they have counters of their own, but "Combined" counts each operation once.
 *
 * Source: Linux, Documentation/admin-guide/iostats.rst. */

#include "record/sampled-counters.h"

#include <dirent.h>

enum
{
  ROW_READS,
  ROW_WRITES,
};

static const CounterRow disk_rows[] = {
  { "Disk", "Total Reads (Combined)", "Combined", COUNTER_GROWTH, .sum_of = ROW_READS + 1 },
  { "Disk", "Total Writes (Combined)", "Combined", COUNTER_GROWTH, .sum_of = ROW_WRITES + 1 },
};

static const CounterRow disk_instance_rows[] = {
  [ROW_READS] = { "Disk", "Total Reads (%s)", "%s", COUNTER_GROWTH },
  [ROW_WRITES] = { "Disk", "Total Writes (%s)", "%s", COUNTER_GROWTH },
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

  /* major minor name, then: reads completed, merged, sectors, ms; writes completed, … */
  while (sysprof_text_next_line (&text, &line))
    {
      uint64_t ignored, reads, writes;
      Text name;
      CounterInstance *disk;

      if (!take_number (&line, &ignored) || !take_number (&line, &ignored) ||
          !sysprof_text_next_word (&line, &name) || !take_number (&line, &reads) ||
          !take_number (&line, &ignored) || !take_number (&line, &ignored) ||
          !take_number (&line, &ignored) || !take_number (&line, &writes))
        return false;

      disk = sysprof_counter_values_instance (values, name);
      if (disk == NULL)
        continue;
      sysprof_counter_instance_set (disk, ROW_READS, (double) reads);
      sysprof_counter_instance_set (disk, ROW_WRITES, (double) writes);
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
is_part_of_other (const char *root, const char *name)
{
  g_autofree char *entry = g_strdelimit (g_strdup (name), "/", '!'); /* as sysfs spells it */
  g_autofree char *device = g_strdup_printf ("%s/sys/class/block/%s", root, entry);
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
                                 sysprof_disk_usage_counters)
