// SPDX-License-Identifier: GPL-3.0-or-later

/* Looks a name up in this order: generic and cache events, events of the CPUs' units,
 * tracepoints. A name must never lead out of tracefs or sysfs, because it becomes part of a
 * path. */

#include "perf/events/event.h"

#include "perf/cpus.h"
#include "perf/events/cache-event.h"
#include "perf/events/event-list.h"
#include "perf/events/pmu.h"
#include "util/util.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000u

typedef struct
{
  const char *name;
  uint32_t type;
  uint64_t config;
  bool is_clock;
} EventName;

/* clang-format off */
static const EventName event_names[] = {
  { "cycles",            PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
  { "ref-cycles",        PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
  { "instructions",      PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
  { "cache-references",  PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
  { "cache-misses",      PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
  { "branches",          PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
  { "branch-misses",     PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
  { "bus-cycles",        PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
  { "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
  { "stalled-cycles-backend",  PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
  { "cpu-clock",         PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true },
  { "task-clock",        PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true },
  { "page-faults",       PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
  { "minor-faults",      PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
  { "major-faults",      PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
  { "context-switches",  PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
  { "cpu-migrations",    PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
  { "alignment-faults",  PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
  { "emulation-faults",  PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
};
/* clang-format on */

static PerfEvent
make_event (const EventName *row)
{
  PerfEvent event = { .type = row->type, .config = row->config, .is_clock = row->is_clock };

  g_strlcpy (event.name, row->name, sizeof event.name);
  return event;
}

bool
sysprof_perf_event_nth (unsigned i, PerfEvent *event)
{
  const char *name;

  if (i < G_N_ELEMENTS (event_names))
    {
      *event = make_event (&event_names[i]);
      return true;
    }

  name = sysprof_cache_event_nth (i - G_N_ELEMENTS (event_names));
  if (name == NULL)
    return false;

  *event = (PerfEvent){ .type = PERF_TYPE_HW_CACHE };
  g_strlcpy (event->name, name, sizeof event->name);
  /* Pass the copy: the call overwrites the buffer that `name` points to. */
  return sysprof_cache_event_find (event->name, &event->config);
}

/* Finds an event by its name or by an alias that perf users know. */
static bool
find_named (PerfEvent *self, const char *name)
{
  static const char *const aliases[][2] = {
    { "cpu-cycles", "cycles" },
    { "branch-instructions", "branches" },
    { "faults", "page-faults" },
    { "cs", "context-switches" },
    { "migrations", "cpu-migrations" },
    { "idle-cycles-frontend", "stalled-cycles-frontend" },
    { "idle-cycles-backend", "stalled-cycles-backend" },
  };
  uint64_t period = self->period;

  for (size_t i = 0; i < G_N_ELEMENTS (aliases); i++)
    if (strcmp (aliases[i][0], name) == 0)
      name = aliases[i][1];

  for (unsigned i = 0; sysprof_perf_event_nth (i, self); i++)
    if (strcmp (self->name, name) == 0)
      {
        self->period = period;
        return true;
      }
  self->period = period;
  return false;
}

/* The name becomes part of a path, so only characters of tracepoint names are allowed. */
static bool
is_tracepoint_name (const char *name)
{
  const char *colon = strchr (name, ':');

  if (colon == NULL || colon == name || colon[1] == '\0')
    return false;

  for (const char *at = name; *at != '\0'; at++)
    if (at != colon && !g_ascii_isalnum (*at) && *at != '_' && *at != '-')
      return false;
  return true;
}

static bool
look_up_tracepoint (PerfEvent *self, const char *name, Privilege *privilege, GError **error)
{
  const char *colon = strchr (name, ':');
  g_autofree char *path =
      g_strdup_printf ("events/%.*s/%s/id", (int) (colon - name), name, colon + 1);
  autofd fd = sysprof_privilege_open_tracefs (privilege, path);
  char text[32];
  ssize_t size = fd >= 0 ? read (fd, text, sizeof text) : -1;
  Text digits = { text, text + MAX (size, 0) };

  if (size < 0 && errno == ENOENT)
    {
      g_autofree char *there = sysprof_perf_tracepoints_describe (privilege, name);

      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "Cannot sample on '%s': this kernel has no such tracepoint. %s", name,
                   there);
      return false;
    }

  if (size < 0 || !sysprof_text_u64 (&digits, &self->config))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot look up the tracepoint '%s' in tracefs: %s. Run as root, or give your group "
          "access with 'sudo mount -o remount,gid=GROUP /sys/kernel/tracing'.",
          name, g_strerror (errno));
      return false;
    }

  self->type = PERF_TYPE_TRACEPOINT;
  if (self->period == 0)
    self->period = 1; /* sample every hit */
  return true;
}

/* Removes ":PERIOD" from the name. FALSE if the period is 0. */
static bool
take_period (char *name, uint64_t *period)
{
  char *colon = strrchr (name, ':');
  Text digits;

  *period = 0;
  if (colon == NULL)
    return true;

  digits = sysprof_text_from_string (colon + 1);
  if (!sysprof_text_u64 (&digits, period) || sysprof_text_size (digits) > 0)
    {
      *period = 0;
      return true;
    }

  *colon = '\0';
  return *period > 0;
}

bool
sysprof_perf_event_parse (PerfEvent *self,
                          const char *text,
                          Privilege *privilege,
                          GError **error)
{
  g_autofree char *name = g_strdup (text);
  PerfEvent parsed = { 0 };

  if (!take_period (name, &parsed.period))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot sample on '%s': a period is 1 or more. Give one, as NAME:1000, or leave it out.",
          text);
      return false;
    }

  if (!find_named (&parsed, name) && !sysprof_pmu_find_event (&parsed, name, privilege))
    {
      if (!is_tracepoint_name (name))
        {
          g_autofree char *there = sysprof_perf_events_describe (privilege);

          g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                       "Cannot sample on '%s': there is no event of that name. %s", text,
                       there);
          return false;
        }

      if (!look_up_tracepoint (&parsed, name, privilege, error))
        return false;
    }

  g_strlcpy (parsed.name, name, sizeof parsed.name); /* as the user wrote it */
  *self = parsed;
  return true;
}

bool
sysprof_perf_event_for_cpu (const PerfEvent *self, int cpu, PerfEvent *there)
{
  *there = *self;
  there->n_units = 0;
  if (self->n_units == 0)
    return true;

  for (unsigned i = 0; i < self->n_units; i++)
    {
      const PerfUnit *unit = &self->units[i];
      g_autoptr (GArray) cpus = sysprof_cpus_parse (unit->cpus);
      bool is_of_it = unit->cpus[0] == '\0';

      for (guint j = 0; j < cpus->len && !is_of_it; j++)
        is_of_it = g_array_index (cpus, int, j) == cpu;
      if (is_of_it)
        {
          there->type = unit->type;
          there->config = unit->config;
          return true;
        }
    }
  return false;
}

uint64_t
sysprof_perf_event_get_period (const PerfEvent *self, uint64_t frequency)
{
  /* The period of a clock is the inverse of the frequency; the kernel computes the same. */
  if (self->period == 0 && self->is_clock)
    return MAX (1, NSEC_PER_SEC / MAX (frequency, 1));
  return self->period;
}

void
sysprof_perf_event_init_cycles (PerfEvent *self)
{
  *self = (PerfEvent){ .type = PERF_TYPE_HARDWARE,
                       .config = PERF_COUNT_HW_CPU_CYCLES,
                       .name = "cycles" };
}

void
sysprof_perf_event_init_cpu_clock (PerfEvent *self)
{
  *self = (PerfEvent){ .type = PERF_TYPE_SOFTWARE,
                       .config = PERF_COUNT_SW_CPU_CLOCK,
                       .is_clock = true,
                       .name = "cpu-clock" };
}
