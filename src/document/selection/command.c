// SPDX-License-Identifier: GPL-3.0-or-later

/* The recorded command, and the descendants of processes.
 *
 * The recorder writes the command line as metadata before it starts the command, and the process
 * ID after that. Other recorders only write the command line. */

#include "document/selection/parts.h"

#include <string.h>

char *
sysprof_store_dup_command (const Store *store)
{
  const Metadata *row = sysprof_store_find_metadata (store, "spawnable.argv", NULL);
  g_autofree char *command =
      row != NULL ? g_strdup (sysprof_store_string (store, row->value)) : NULL;

  if (command == NULL || g_strstrip (command)[0] == '\0')
    return NULL;
  return g_steal_pointer (&command);
}

/* The first process that ran a command with this command line, or that has the name of the
 * program. */
static ProcessId
find_by_command_line (const Store *store, const char *command)
{
  g_auto (GStrv) words = NULL;
  g_autofree char *line = NULL, *name = NULL;
  ProcessId found = 0;
  bool is_exact = false;

  if (!g_shell_parse_argv (command, NULL, &words, NULL))
    return 0;
  line = g_strjoinv (" ", words);
  name = g_path_get_basename (words[0]);
  for (ProcessId i = 1; i < store->processes.n; i++)
    {
      const Process *process = &store->processes.row[i];
      bool matches = g_str_equal (sysprof_store_string (store, process->command_line), line);

      if ((is_exact && !matches) ||
          (!matches && !g_str_equal (sysprof_store_string (store, process->comm), name)))
        continue;
      if (found == 0 || (matches && !is_exact) ||
          process->start < store->processes.row[found].start)
        found = i;
      is_exact |= matches;
    }
  return found;
}

ProcessId
sysprof_store_find_command (const Store *store)
{
  const Metadata *row = sysprof_store_find_metadata (store, "spawnable.pid", NULL);
  g_autofree char *command = sysprof_store_dup_command (store);
  int64_t pid =
      row != NULL ? g_ascii_strtoll (sysprof_store_string (store, row->value), NULL, 10) : 0;

  if (pid > 0 && pid <= G_MAXINT32)
    return sysprof_store_find_process (store, (int32_t) pid);
  return command != NULL ? find_by_command_line (store, command) : 0;
}

typedef enum
{
  DESCENT_UNKNOWN,
  DESCENT_PENDING, /* of the line of ancestors that is looked at; meets itself if pids were reused */
  DESCENT_NONE,
  DESCENT_DESCENDANT,
} Descent;

static ProcessId
parent_of (const Store *store, ProcessId process)
{
  int32_t pid = store->processes.row[process].parent_pid;

  return pid > 0 ? sysprof_store_find_process (store, pid) : 0;
}

static void
find_descent (const Store *store, Descent *descent, ProcessId process)
{
  ProcessId top = process;
  Descent result;

  while (top != 0 && descent[top] == DESCENT_UNKNOWN)
    {
      descent[top] = DESCENT_PENDING;
      top = parent_of (store, top);
    }
  result = top != 0 && descent[top] == DESCENT_DESCENDANT ? DESCENT_DESCENDANT : DESCENT_NONE;
  for (; process != 0 && descent[process] == DESCENT_PENDING;
       process = parent_of (store, process))
    descent[process] = result;
}

void
sysprof_store_add_descendants (const Store *store, bool *is_in)
{
  g_autofree Descent *descent = g_new0 (Descent, MAX (store->processes.n, 1));

  for (ProcessId i = 1; i < store->processes.n; i++)
    descent[i] = is_in[i] ? DESCENT_DESCENDANT : DESCENT_UNKNOWN;
  for (ProcessId i = 1; i < store->processes.n; i++)
    {
      if (descent[i] == DESCENT_UNKNOWN)
        find_descent (store, descent, i);
      is_in[i] = descent[i] == DESCENT_DESCENDANT;
    }
}
