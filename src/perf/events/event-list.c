// SPDX-License-Identifier: GPL-3.0-or-later

/* Whether the machine supports an event is found by opening it for user code of this thread,
 * which needs no privileges. */

#include "perf/events/event-list.h"

#include "perf/events/event.h"
#include "perf/events/pmu.h"
#include "util/util.h"

#include <dirent.h>
#include <string.h>
#include <time.h>

#define MOST_NAMES 24 /* in one list of a message */

static bool
is_there (Privilege *privilege, const PerfEvent *event)
{
  struct perf_event_attr attr = {
    .size = sizeof attr,
    .type = event->type,
    .config = event->config,
    .sample_period = 1000000000,
    .disabled = 1,
    .exclude_kernel = 1,
    .exclude_hv = 1,
    .use_clockid = 1,
    .clockid = CLOCK_MONOTONIC,
  };
  autofd fd = sysprof_privilege_open_event (privilege, &attr, 0, 0, 0);

  return fd >= 0;
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Returns the sorted names of the directories in tracefs PATH; NULL if it cannot be read. */
static GPtrArray *
list_directories (Privilege *privilege, const char *path)
{
  autofd fd = sysprof_privilege_open_tracefs (privilege, path);
  DIR *directory = fd >= 0 ? fdopendir (fd) : NULL;
  GPtrArray *names;
  struct dirent *entry;

  if (directory == NULL)
    return NULL;

  (void) sysprof_steal_fd (&fd);
  names = g_ptr_array_new_with_free_func (g_free);
  while ((entry = readdir (directory)) != NULL)
    if (entry->d_name[0] != '.' && entry->d_type == DT_DIR)
      g_ptr_array_add (names, g_strdup (entry->d_name));
  (void) closedir (directory);
  g_ptr_array_sort (names, compare_names);
  return names;
}

static void
append_list (GString *text, const GPtrArray *names, const char *rest)
{
  for (guint i = 0; i < MIN (names->len, MOST_NAMES); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
                            (const char *) g_ptr_array_index (names, i));
  if (names->len > MOST_NAMES)
    g_string_append_printf (text, " and %u more (%s shows all)", names->len - MOST_NAMES, rest);
}

char *
sysprof_perf_events_describe (Privilege *privilege)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) groups = list_directories (privilege, "events");
  GString *text = g_string_new ("This machine has ");
  PerfEvent event;

  for (unsigned i = 0; sysprof_perf_event_nth (i, &event); i++)
    if (is_there (privilege, &event))
      g_ptr_array_add (names, g_strdup (event.name));
  if (names->len > 0)
    append_list (text, names, "'perf list'");
  else
    g_string_append (text, "none that we may use");
  sysprof_pmu_append_events (text, privilege);
  if (groups != NULL && groups->len > 0)
    {
      g_string_append (text, "; and tracepoints, as GROUP:NAME, of the groups ");
      append_list (text, groups, "'sudo ls /sys/kernel/tracing/events'");
    }
  g_string_append_c (text, '.');
  return g_string_free (text, FALSE);
}

char *
sysprof_perf_tracepoints_describe (Privilege *privilege, const char *name)
{
  const char *colon = strchr (name, ':');
  g_autofree char *group = g_strndup (name, (gsize) (colon - name));
  g_autofree char *path = g_build_filename ("events", group, NULL);
  g_autoptr (GPtrArray) names = list_directories (privilege, path);
  bool has_group = names != NULL;
  const char *wanted = has_group ? colon + 1 : group;
  Closest closest = sysprof_closest_to (wanted);
  GString *text = g_string_new (NULL);

  if (!has_group)
    names = list_directories (privilege, "events");
  if (names == NULL)
    return g_string_free (text, FALSE);

  for (guint i = 0; i < names->len; i++)
    {
      const char *there = g_ptr_array_index (names, i);

      sysprof_closest_offer (&closest, there, strlen (there), there);
    }
  if (closest.best != NULL)
    g_string_append_printf (text, "Did you mean '%s%s%s'? ", has_group ? group : "",
                            has_group ? ":" : "", closest.best);
  g_string_append (text, has_group ? "Its group has " : "There are the groups ");
  append_list (text, names, "'perf list'");
  g_string_append_c (text, '.');
  return g_string_free (text, FALSE);
}
