// SPDX-License-Identifier: GPL-3.0-or-later

/* Findings about processes whose memory grows. */

#include "views/overview/findings.h"

#include <string.h>

#define LEAST_GROWTH 32e6 /* bytes */

/* Programs also grow while they start, or once for their input. So each third of the time must
 * have this part of the growth. */
#define LEAST_PART 0.1

#define LEAST_VALUES 4

typedef struct
{
  ProcessId process; /* 0 = none */
  double bytes;
  double per_second;
} Growth;

/* The last value at or before `time`. */
static double
value_at (const Counters *counters, CounterPart part, int64_t time)
{
  uint32_t i = part.first + 1;

  while (i < part.first + part.n && counters->time[i] <= time)
    i++;
  return (double) counters->value[i - 1].i64;
}

static bool
is_growing (const Store *store, const ProcessUsage *usage, Growth *growth)
{
  const Counters *counters = &store->counters;
  uint32_t last = usage->resident.first + usage->resident.n - 1;
  int64_t begin, length;
  double values[4];

  if (usage->resident.n < LEAST_VALUES)
    return false;
  begin = counters->time[usage->resident.first];
  length = sysprof_time_between (begin, counters->time[last]);
  for (int i = 0; i < 4; i++)
    values[i] = value_at (counters, usage->resident,
                          i < 3 ? begin + length / 3 * i : counters->time[last]);

  growth->bytes = values[3] - values[0];
  growth->per_second = growth->bytes * 1e9 / (double) MAX (length, 1);
  if (growth->bytes < LEAST_GROWTH)
    return false;
  for (int i = 0; i < 3; i++)
    if (values[i + 1] - values[i] < LEAST_PART * growth->bytes)
      return false;
  return true;
}

/* The selected process that grew most. */
static Growth
find_growth (const Findings *self, const ProcessUsage *usage)
{
  g_autofree bool *is_in = sysprof_request_find_processes (self->request);
  Growth most = { 0 };

  for (ProcessId i = 1; i < self->store->processes.n && sysprof_is_wanted_at (i); i++)
    {
      Growth growth = { .process = i };

      if (is_in[i] && is_growing (self->store, &usage[i], &growth) && growth.bytes > most.bytes)
        most = growth;
    }
  return most;
}

static bool
is_sampled_by_page_faults (const Store *store)
{
  for (uint32_t i = 0; i < store->n_sampled_events; i++)
    if (strcmp (sysprof_store_string (store, store->sampled_events[i].name), "page-faults") ==
        0)
      return true;
  return false;
}

static const char *
name_start (const Store *store, ProcessId process, TimeRange time)
{
  if (store->processes.row[process].start > time.begin)
    return "its start";
  return time.begin > store->begin ? "the start of the selection"
                                   : "the start of the recording";
}

void
sysprof_find_memory_growth (Findings *self)
{
  const Store *store = self->store;
  TimeRange time;
  g_autofree ProcessUsage *usage =
      sysprof_usage_of_processes (store, self->request->filter, &time);
  Growth growth = find_growth (self, usage);
  bool has_faults = is_sampled_by_page_faults (store);
  const Process *process = &store->processes.row[growth.process];

  if (growth.process != 0)
    {
      g_autofree char *comm =
          sysprof_dup_one_line (sysprof_store_string (store, process->comm));
      g_autofree char *name = g_strdup_printf ("%s/%d", comm, process->pid);
      g_autofree char *pid = g_strdup_printf ("%d", process->pid);
      g_autofree char *bytes = sysprof_dup_quantity (growth.bytes, "bytes");
      g_autofree char *rate = sysprof_dup_quantity (growth.per_second, "bytes/s");

      sysprof_findings_add (
          self,
          &(Finding){ .kind = "memory-growth",
                      .view = has_faults ? "functions" : "counters",
                      .process = name,
                      .remedy = has_faults ? NULL
                                           : "Record with sysprof-cli --event page-faults to "
                                             "see which functions use the new memory.",
                      .options = { "process", pid } },
          "%s uses %s more memory than at %s: it grew by %s.", comm, bytes,
          name_start (store, growth.process, time), rate);
    }
}
