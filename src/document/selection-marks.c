// SPDX-License-Identifier: GPL-3.0-or-later

/* --mark GROUP/NAME: the times of such marks. */

#include "document/selection-parts.h"

#include <fnmatch.h>

static bool
matches (const char *pattern, const char *text)
{
  return g_str_equal (pattern, text) || fnmatch (pattern, text, 0) == 0;
}

static void
find_marks (const Store *store, const char *group, const char *name, GArray *ranges)
{
  for (uint32_t i = 0; i < store->n_marks && sysprof_is_wanted_at (i); i++)
    {
      const Mark *mark = &store->marks[i];
      TimeRange range = { mark->time, 0 };

      if (!matches (group, sysprof_store_string (store, mark->group)) ||
          !matches (name, sysprof_store_string (store, mark->name)))
        continue;
      /* An instant holds what has its very time. */
      if (__builtin_add_overflow (mark->time, MAX (mark->duration, 1), &range.end))
        range.end = INT64_MAX;
      g_array_append_val (ranges, range);
    }
}

gboolean
sysprof_selection_find_marks (char **marks, const Store *store, GArray *ranges, GError **error)
{
  for (guint i = 0; marks[i] != NULL; i++)
    {
      const char *slash = strchr (marks[i], '/');
      g_autofree char *group = slash ? g_strndup (marks[i], (gsize) (slash - marks[i])) : NULL;

      if (slash == NULL || slash == marks[i] || slash[1] == 0)
        {
          g_set_error (
              error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
              "--mark %s: give group and name, like Compositor/Paint; both may hold * and ?",
              marks[i]);
          return FALSE;
        }
      find_marks (store, group, slash + 1, ranges);
    }
  sysprof_time_ranges_join (ranges);
  return TRUE;
}
