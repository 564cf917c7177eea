// SPDX-License-Identifier: GPL-3.0-or-later

/* Control groups of processes: what the recorder wrote down for them. A process that began later and has no text of its
 * own is in the group of its parent, as the kernel puts it there. */

#include "document/document.h"

#include <string.h>

#define MAX_ANCESTORS 64 /* so that pids that were used twice cannot lead in a circle */

/* "0::/system.slice/a.service"; of the older kind, with controllers between the colons, the first. *(full)* */
static char *
dup_path (GBytes *bytes)
{
  gsize size;
  const char *at = g_bytes_get_data (bytes, &size);
  Text text = { at, at + size };
  char *path = NULL;
  Text line;

  while (at != NULL && sysprof_text_next_line (&text, &line))
    {
      bool is_unified = sysprof_text_starts_with (line, "0::");
      Text left;

      if (!sysprof_text_until (&line, ':', &left) || !sysprof_text_until (&line, ':', &left) ||
          (path != NULL && !is_unified))
        continue;
      g_free (path);
      path = g_strndup (line.at, sysprof_text_size (line));
    }
  return path;
}

/* pid → path, of those that the capture has a text for. */
static GHashTable *
read_paths (const Store *store)
{
  GHashTable *paths = g_hash_table_new_full (NULL, NULL, NULL, g_free);

  for (uint32_t i = 0; i < store->files.n && sysprof_is_wanted_at (i); i++)
    {
      Text name =
          sysprof_text_from_string (sysprof_store_string (store, store->files.row[i].name));
      g_autoptr (GBytes) bytes = NULL;
      uint64_t pid;
      char *path;

      if (!sysprof_text_skip (&name, "/proc/") || !sysprof_text_u64 (&name, &pid) ||
          pid > INT32_MAX ||
          (!sysprof_text_equal (name, "/cgroup") && !sysprof_text_equal (name, "/cgroup.gz")))
        continue;
      bytes = sysprof_store_read_file (
          store, sysprof_store_string (store, store->files.row[i].name), NULL);
      path = bytes != NULL ? dup_path (bytes) : NULL;
      if (path != NULL)
        g_hash_table_insert (paths, GINT_TO_POINTER ((int) pid), path);
    }
  return paths;
}

char **
sysprof_store_dup_cgroups (const Store *store)
{
  const Processes *processes = &store->processes;
  g_autoptr (GHashTable) paths = read_paths (store);
  g_autoptr (GHashTable) of_pid = g_hash_table_new (NULL, NULL);
  char **groups = g_new0 (char *, processes->n + 1);

  for (ProcessId i = processes->n; i-- > 1;)
    g_hash_table_insert (of_pid, GINT_TO_POINTER (processes->row[i].pid), GUINT_TO_POINTER (i));
  for (ProcessId i = 0; i < processes->n; i++)
    {
      const char *path = NULL;
      ProcessId at = i;

      for (int n = 0; n < MAX_ANCESTORS && at != 0 && path == NULL; n++)
        {
          const Process *row = &processes->row[at];

          path = g_hash_table_lookup (paths, GINT_TO_POINTER (row->pid));
          at = row->parent_pid > 0 ? GPOINTER_TO_UINT (g_hash_table_lookup (
                                         of_pid, GINT_TO_POINTER (row->parent_pid)))
                                   : 0;
        }
      groups[i] = g_strdup (path != NULL ? path : "");
    }
  return groups;
}
