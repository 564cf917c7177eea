// SPDX-License-Identifier: GPL-3.0-or-later

/* --cgroup: processes by the control group that the recorder wrote down for them. One that began later and has no text
 * of its own is in the group of its parent, as the kernel puts it there. */

#include "document/selection/parts.h"

#include <fnmatch.h>

#define MAX_ANCESTORS 64 /* so that pids that were used twice cannot lead in a circle */

/* "0::/system.slice/a.service", or with controllers between the colons. */
static bool
line_matches (Text line, const char *pattern)
{
  Text left;
  g_autofree char *path = NULL;

  if (!sysprof_text_until (&line, ':', &left) || !sysprof_text_until (&line, ':', &left))
    return false;
  path = g_strndup (line.at, sysprof_text_size (line));
  return g_str_equal (pattern, path) || fnmatch (pattern, path, 0) == 0;
}

static bool
text_matches (GBytes *bytes, char **patterns)
{
  gsize size;
  const char *at = g_bytes_get_data (bytes, &size);
  Text text = { at, at + size };
  Text line;

  while (at != NULL && sysprof_text_next_line (&text, &line))
    for (guint i = 0; patterns[i] != NULL; i++)
      if (line_matches (line, patterns[i]))
        return true;
  return false;
}

static GBytes *
read_cgroup (const Store *store, int32_t pid)
{
  g_autofree char *name = g_strdup_printf ("/proc/%d/cgroup", pid);

  return sysprof_store_read_file (store, name, NULL);
}

/* Of the process, or of the nearest ancestor that has one; NULL if none has. */
static GBytes *
find_cgroup (const Store *store, ProcessId process)
{
  for (int i = 0; i < MAX_ANCESTORS && process != 0; i++)
    {
      const Process *row = &store->processes.row[process];
      GBytes *bytes = read_cgroup (store, row->pid);

      if (bytes != NULL)
        return bytes;
      process = row->parent_pid > 0 ? sysprof_store_find_process (store, row->parent_pid) : 0;
    }
  return NULL;
}

gboolean
sysprof_selection_find_cgroups (char **patterns,
                                const Store *store,
                                GArray *processes,
                                GError **error)
{
  for (guint i = 0; patterns[i] != NULL; i++)
    if (patterns[i][0] == 0)
      {
        g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                     "--cgroup '': give a control group like '/system.slice/*'");
        return FALSE;
      }

  for (ProcessId i = 1; i < store->processes.n; i++)
    {
      g_autoptr (GBytes) bytes = find_cgroup (store, i);

      if (bytes != NULL && text_matches (bytes, patterns))
        g_array_append_val (processes, i);
    }
  return TRUE;
}
