// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/perf/event.h"

#include "util/util.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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
  { "cpu-cycles",        PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
  { "ref-cycles",        PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
  { "instructions",      PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
  { "cache-references",  PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
  { "cache-misses",      PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
  { "branches",          PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
  { "branch-misses",     PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
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

static bool
find_named (PerfEvent *self, const char *name)
{
  for (size_t i = 0; i < G_N_ELEMENTS (event_names); i++)
    {
      if (strcmp (event_names[i].name, name) != 0)
        continue;

      self->type = event_names[i].type;
      self->config = event_names[i].config;
      self->is_clock = event_names[i].is_clock;
      return true;
    }
  return false;
}

/* The name becomes part of a path: only what names of tracepoints consist of. */
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
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "Cannot sample on '%s': this kernel has no such tracepoint. 'sudo ls "
                   "/sys/kernel/tracing/events' shows the groups there are.",
                   name);
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
    self->period = 1; /* each time it is passed */
  return true;
}

/* Cuts ":PERIOD" off. FALSE for a period of 0. */
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

  if (!find_named (&parsed, name))
    {
      if (!is_tracepoint_name (name))
        {
          g_set_error (
              error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
              "Cannot sample on '%s': there is no such event. Give cpu-clock, cycles, instructions, "
              "cache-misses, branch-misses, page-faults, context-switches, or a tracepoint as "
              "GROUP:NAME.",
              text);
          return false;
        }

      if (!look_up_tracepoint (&parsed, name, privilege, error))
        return false;
    }

  g_strlcpy (parsed.name, name, sizeof parsed.name);
  *self = parsed;
  return true;
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
