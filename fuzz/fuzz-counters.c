// SPDX-License-Identifier: GPL-3.0-or-later

/* The texts that counters are read from, in which programs and drivers have a say: every parser reads each of them. */

#include "fuzz/fuzz.h"
#include "record/counters/sampled-counters.h"
#include "record/instruments/gpu-clients.h"
#include "record/instruments/pressure.h"

#include <stdlib.h>
#include <string.h>

extern const SampledCounters sysprof_battery_charge_counters;
extern const SampledCounters sysprof_cooling_counters;
extern const SampledCounters sysprof_cpu_frequency_counters;
extern const SampledCounters sysprof_cpu_usage_counters;
extern const SampledCounters sysprof_disk_usage_counters;
extern const SampledCounters sysprof_memory_event_counters;
extern const SampledCounters sysprof_memory_usage_counters;
extern const SampledCounters sysprof_network_usage_counters;
extern const SampledCounters sysprof_own_usage_counters;
extern const SampledCounters sysprof_pressure_counters;
extern const SampledCounters sysprof_temperature_counters;
extern const SampledCounters sysprof_throttle_counters;

static const SampledCounters *const sources[] = {
  &sysprof_battery_charge_counters, &sysprof_cooling_counters,
  &sysprof_cpu_usage_counters,      &sysprof_cpu_frequency_counters,
  &sysprof_disk_usage_counters,     &sysprof_memory_event_counters,
  &sysprof_memory_usage_counters,   &sysprof_network_usage_counters,
  &sysprof_own_usage_counters,      &sysprof_pressure_counters,
  &sysprof_temperature_counters,    &sysprof_throttle_counters,
};

static void
check_name (const char *name, size_t size)
{
  if (memchr (name, '\0', size) == NULL)
    abort ();
}

static void
read_client (Text text)
{
  GpuClient client;

  if (!sysprof_gpu_client_parse (text, &client))
    return;
  if (client.n_engines > GPU_MAX_ENGINES || client.n_regions > GPU_MAX_REGIONS ||
      client.driver[0] == '\0' || client.device[0] == '\0')
    abort ();
  check_name (client.device, sizeof client.device);
  for (unsigned i = 0; i < client.n_engines; i++)
    {
      check_name (client.engines[i].name, GPU_NAME_SIZE);
      if (client.engines[i].capacity == 0)
        abort ();
    }
  for (unsigned i = 0; i < client.n_regions; i++)
    check_name (client.regions[i].name, GPU_NAME_SIZE);
}

static void
read_stalls (Text text)
{
  StallSums sums;

  if (sysprof_pressure_parse (text, &sums) && !sums.has_some && !sums.has_full)
    abort ();
}

/* Twice, for growth and for disks and devices that appear and disappear. */
static void
read_source (const SampledCounters *source, Text text)
{
  CounterValues values = { 0 };
  Text half = { text.at + sysprof_text_size (text) / 2, text.end };
  CounterInstance *instance;

  for (unsigned i = 0;
       source->parse != NULL && i < COUNTER_MAX_PATHS && source->paths[i] != NULL; i++)
    {
      values.reading++;
      (void) source->parse (i, text, &values); /* may say no */
      values.reading++;
      (void) source->parse (i, half, &values);
    }

  instance = sysprof_counter_values_instance (&values, sysprof_text_from_string ("0"));
  for (unsigned i = 0; instance != NULL && source->parse_instance != NULL &&
                       i < COUNTER_MAX_PATHS && source->instance_paths[i] != NULL;
       i++)
    {
      source->parse_instance (i, text, instance);
      source->parse_instance (i, half, instance);
    }

  for (unsigned i = 0; i < values.n_instances; i++)
    {
      check_name (values.instances[i].label, COUNTER_NAME_SIZE);
      check_name (values.instances[i].detail, COUNTER_DETAIL_SIZE);
    }
  if (values.n_instances > COUNTER_MAX_INSTANCES)
    abort ();
  sysprof_counter_values_clear (&values);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  Text text = { (const char *) bytes, (const char *) bytes + size };

  read_client (text);
  read_stalls (text);
  for (size_t i = 0; i < G_N_ELEMENTS (sources); i++)
    read_source (sources[i], text);
  return 0;
}
