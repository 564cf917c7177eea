// SPDX-License-Identifier: GPL-3.0-or-later

/* Events caused by memory pressure: swapping, major faults, direct reclaim, OOM kills.
 *
 * The kernel computes this text from the counts of every CPU, which costs three times as much
 * as /proc/meminfo. So it is read less often.
 *
 * Source: Linux, Documentation/admin-guide/cgroup-v2.rst ("memory.stat", which has the same
 * names), mm/vmstat.c for the text. */

#include "record/counters/sampled-counters.h"

enum
{
  ROW_SWAP_IN,
  ROW_SWAP_OUT,
  ROW_MAJOR_FAULTS,
  ROW_STALLS,
  ROW_KILLS,
};

/* clang-format off */
static const CounterRow event_rows[] = {
  [ROW_SWAP_IN] = { "Memory Events", "Swapped In", N_ ("Pages read from swap"), COUNTER_GROWTH },
  [ROW_SWAP_OUT] = { "Memory Events", "Swapped Out", N_ ("Pages written to swap"), COUNTER_GROWTH },
  [ROW_MAJOR_FAULTS] = { "Memory Events", "Major Faults", N_ ("Page faults that waited for a disk"), COUNTER_GROWTH },
  [ROW_STALLS] = { "Memory Events", "Direct Reclaims", N_ ("Allocations that had to free memory first"), COUNTER_GROWTH },
  [ROW_KILLS] = { "Memory Events", "OOM Kills", N_ ("Processes killed for memory"), COUNTER_GROWTH },
};

static const struct
{
  const char *key;
  unsigned row;
} event_keys[] = {
  { "pswpin", ROW_SWAP_IN },
  { "pswpout", ROW_SWAP_OUT },
  { "allocstall_", ROW_STALLS }, /* one line for each memory zone */
  { "pgmajfault", ROW_MAJOR_FAULTS },
  { "oom_kill", ROW_KILLS },
};
/* clang-format on */

/* Removes a known key from the start of the line. Returns its index, or the number of keys if
 * there is none. */
static size_t
find_key (Text *line)
{
  size_t i = 0;

  while (i < G_N_ELEMENTS (event_keys) && !sysprof_text_skip (line, event_keys[i].key))
    i++;
  return i;
}

static bool
parse_vmstat (unsigned path, Text text, CounterValues *values)
{
  Text line;

  while (sysprof_text_next_line (&text, &line))
    {
      size_t i = find_key (&line);
      Text rest, number;
      uint64_t n;
      unsigned row;

      if (i == G_N_ELEMENTS (event_keys))
        continue;
      row = event_keys[i].row;
      if (!sysprof_text_until (&line, ' ', &rest) || !sysprof_text_next_word (&line, &number) ||
          !sysprof_text_u64 (&number, &n) || sysprof_text_size (number) > 0)
        return false;
      if (sysprof_text_size (rest) > 0 && row != ROW_STALLS)
        continue; /* another key with the same prefix */

      sysprof_counter_values_set (values, row,
                                  (double) n + (values->is_set[row] ? values->values[row] : 0));
    }
  return true;
}

const SampledCounters sysprof_memory_event_counters = {
  .name = "Memory Events",
  .title = N_ ("memory events"),
  .paths = { "/proc/vmstat" },
  .interval = 1000 * MSEC,
  .rows = event_rows,
  .n_rows = G_N_ELEMENTS (event_rows),
  .parse = parse_vmstat,
};
