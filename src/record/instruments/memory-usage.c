// SPDX-License-Identifier: GPL-3.0-or-later

/* How the machine's memory is used.
 *
 * Source: Linux, Documentation/filesystems/proc.rst, "meminfo". */

#include "record/counters/sampled-counters.h"

#include <assert.h>

extern const SampledCounters sysprof_memory_event_counters;

#define KIB 1024.0 /* the kernel's kB are 1,024 bytes */

enum
{
  ROW_USED,
  ROW_TOTAL,
  ROW_AVAILABLE,
};

/* clang-format off */
static const CounterRow memory_rows[] = {
  [ROW_USED] = { "Memory", "Used", N_ ("Memory used by system"), COUNTER_VALUE, KIB },
  [ROW_TOTAL] = { "Memory", "Total", N_ ("Memory of the system"), COUNTER_VALUE, KIB },
  [ROW_AVAILABLE] = { "Memory", "Available", N_ ("Memory for new programs without swapping"), COUNTER_VALUE, KIB },
  { "Memory", "Free", N_ ("Unused memory"), COUNTER_VALUE, KIB },
  { "Memory", "Buffers", N_ ("Memory of raw disk blocks"), COUNTER_VALUE, KIB },
  { "Memory", "Cached", N_ ("Memory of file contents"), COUNTER_VALUE, KIB },
  { "Memory", "Swap Cached", N_ ("Memory that is also in swap"), COUNTER_VALUE, KIB },
  { "Memory", "Mapped", N_ ("Memory of mapped files"), COUNTER_VALUE, KIB },
  { "Memory", "Shmem", N_ ("Shared memory and tmpfs"), COUNTER_VALUE, KIB },
  { "Memory", "Swap Total", N_ ("Swap space"), COUNTER_VALUE, KIB },
  { "Memory", "Swap Free", N_ ("Unused swap space"), COUNTER_VALUE, KIB },
  { "Memory", "Dirty", N_ ("Memory that waits to be written to disk"), COUNTER_VALUE, KIB },
  { "Memory", "Writeback", N_ ("Memory that is being written to disk"), COUNTER_VALUE, KIB },
  { "Memory", "Anonymous", N_ ("Memory of programs, not of files"), COUNTER_VALUE, KIB },
  { "Memory", "Active (anon)", N_ ("Programs' memory in recent use"), COUNTER_VALUE, KIB },
  { "Memory", "Inactive (anon)", N_ ("Programs' memory that is swapped first"), COUNTER_VALUE, KIB },
  { "Memory", "Active (file)", N_ ("File contents in recent use"), COUNTER_VALUE, KIB },
  { "Memory", "Inactive (file)", N_ ("File contents that are dropped first"), COUNTER_VALUE, KIB },
  { "Memory", "Unevictable", N_ ("Memory that cannot be reclaimed"), COUNTER_VALUE, KIB },
  { "Memory", "Slab Reclaimable", N_ ("The kernel's caches that can shrink"), COUNTER_VALUE, KIB },
  { "Memory", "Slab Unreclaimable", N_ ("The kernel's own objects"), COUNTER_VALUE, KIB },
  { "Memory", "Page Tables", N_ ("Page tables"), COUNTER_VALUE, KIB },
  { "Memory", "Kernel Stack", N_ ("Kernel stacks of threads"), COUNTER_VALUE, KIB },
  { "Memory", "Committed", N_ ("Memory that programs were promised"), COUNTER_VALUE, KIB },
  { "Memory", "Zswapped", N_ ("Swapped memory that is kept compressed"), COUNTER_VALUE, KIB },
};

/* The kernel's names of the rows. "Used" is the memory that is not available. */
static const char *const memory_keys[] = {
  [ROW_USED] = NULL,
  "MemTotal:", "MemAvailable:", "MemFree:", "Buffers:", "Cached:", "SwapCached:", "Mapped:", "Shmem:",
  "SwapTotal:", "SwapFree:", "Dirty:", "Writeback:", "AnonPages:", "Active(anon):", "Inactive(anon):", "Active(file):",
  "Inactive(file):", "Unevictable:", "SReclaimable:", "SUnreclaim:", "PageTables:", "KernelStack:", "Committed_AS:",
  "Zswapped:",
};
/* clang-format on */
static_assert (G_N_ELEMENTS (memory_keys) == G_N_ELEMENTS (memory_rows), "a key for each row");

static bool
parse_meminfo (unsigned path, Text text, CounterValues *values)
{
  Text line;

  while (sysprof_text_next_line (&text, &line))
    {
      Text key, number;
      uint64_t kib;

      if (!sysprof_text_next_word (&line, &key))
        return false;

      for (unsigned i = ROW_TOTAL; i < G_N_ELEMENTS (memory_keys); i++)
        if (sysprof_text_equal (key, memory_keys[i]))
          {
            if (!sysprof_text_next_word (&line, &number) || !sysprof_text_u64 (&number, &kib) ||
                sysprof_text_size (number) > 0)
              return false;
            sysprof_counter_values_set (values, i, (double) kib);
          }
    }

  if (!values->is_set[ROW_TOTAL] || !values->is_set[ROW_AVAILABLE] ||
      values->values[ROW_AVAILABLE] > values->values[ROW_TOTAL])
    return false;

  sysprof_counter_values_set (values, ROW_USED,
                              values->values[ROW_TOTAL] - values->values[ROW_AVAILABLE]);
  return true;
}

const SampledCounters sysprof_memory_usage_counters = {
  .name = "Memory Usage",
  .title = N_ ("memory usage"),
  .paths = { "/proc/meminfo" },
  .interval = 500 * MSEC,
  .rows = memory_rows,
  .n_rows = G_N_ELEMENTS (memory_rows),
  .parse = parse_meminfo,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofMemoryUsage,
                                 sysprof_memory_usage,
                                 &sysprof_memory_usage_counters,
                                 &sysprof_memory_event_counters)

const InstrumentRow sysprof_memory_usage_row = {
  .by_default = INSTRUMENT_ON,
  .options = { { "no-memory", "Do not record memory counters", .omits = true } },
  .new = sysprof_memory_usage_new,
};
