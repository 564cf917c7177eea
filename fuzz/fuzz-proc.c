// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel's texts, in which programs have a say by their names and paths: tables of mappings, arguments, and what counters
 * are read from. */

#include "fuzz/fuzz.h"
#include "record/proc-text.h"
#include "record/sampled-counters.h"

#include <stdlib.h>
#include <string.h>

extern const SampledCounters sysprof_cpu_usage_counters;
extern const SampledCounters sysprof_disk_usage_counters;
extern const SampledCounters sysprof_memory_usage_counters;
extern const SampledCounters sysprof_network_usage_counters;

static const SampledCounters *const counters[] = {
  &sysprof_cpu_usage_counters,
  &sysprof_disk_usage_counters,
  &sysprof_memory_usage_counters,
  &sysprof_network_usage_counters,
};

static void
read_mappings (Text maps)
{
  ProcMapping mapping;

  while (sysprof_proc_next_mapping (&maps, &mapping))
    if (mapping.start > mapping.end || mapping.path.at > mapping.path.end ||
        mapping.path.end > maps.end)
      abort ();
}

static void
join_arguments (Text text)
{
  size_t size = sysprof_text_size (text);
  g_autofree char *arguments = g_malloc (size + 1);
  size_t length;

  memcpy (arguments, text.at, size);
  length = sysprof_proc_join_arguments (arguments, size);
  if (length > size || arguments[length] != 0 || strchr (arguments, '\n') != NULL)
    abort ();
}

/* Twice, for growth and for what came and went. */
static void
read_counters (const SampledCounters *row, Text text)
{
  CounterValues values = { 0 };

  for (unsigned i = 0; i < COUNTER_MAX_PATHS && row->paths[i] != NULL; i++)
    {
      values.reading++;
      (void) row->parse (i, text, &values); /* may say no */
      values.reading++;
      (void) row->parse (i, (Text){ text.at + sysprof_text_size (text) / 2, text.end },
                         &values);
    }
  for (unsigned i = 0; row->parse_instance != NULL && i < MIN (values.n_instances, 4); i++)
    for (unsigned path = 0; path < COUNTER_MAX_PATHS && row->instance_paths[path] != NULL;
         path++)
      row->parse_instance (path, text, &values.instances[i]);
  if (values.n_instances > COUNTER_MAX_INSTANCES)
    abort ();
  sysprof_counter_values_clear (&values);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  Text text = { (const char *) bytes, (const char *) bytes + size };

  read_mappings (text);
  join_arguments (text);
  for (size_t i = 0; i < G_N_ELEMENTS (counters); i++)
    read_counters (counters[i], text);
  return 0;
}
