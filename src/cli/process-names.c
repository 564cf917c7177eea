// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds running processes by name. See process-names.h. */

#include "cli/process-names.h"

#include "text/text.h"
#include "util/util.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX    20   /* processes of one name in a message */
#define COLUMNS_MAX 70   /* of a command line in it */
#define ARGUMENTS   4096 /* bytes that are read of a command line */

typedef struct
{
  gint pid;
  char *arguments; /* joined by blanks */
} Found;

static void
free_found (void *data)
{
  Found *found = data;

  g_free (found->arguments);
  g_free (found);
}

/* Reads at most `size` - 1 bytes. The memory of a stopped process may be unreadable. */
static size_t
read_proc (gint pid, const char *file, char *bytes, size_t size)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/%s", pid, file);
  autofd fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read (fd, bytes, size - 1) : 0;

  bytes[MAX (n, 0)] = '\0';
  return (size_t) MAX (n, 0);
}

/* Returns what to show of the process if it has the name, otherwise NULL. */
static Found *
match (gint pid, const char *name)
{
  char comm[32], arguments[ARGUMENTS];
  size_t size = read_proc (pid, "cmdline", arguments, sizeof arguments);
  const char *slash = strrchr (arguments, '/'); /* of the first one only */
  Found *found;

  if (read_proc (pid, "comm", comm, sizeof comm) == 0)
    return NULL; /* has exited */
  comm[strcspn (comm, "\n")] = '\0';
  if (!g_str_equal (comm, name) && !g_str_equal (slash != NULL ? slash + 1 : arguments, name))
    return NULL;

  found = g_new0 (Found, 1);
  found->pid = pid;
  for (size_t i = 0; i + 1 < size; i++)
    if (arguments[i] == '\0')
      arguments[i] = ' ';
  found->arguments = g_strdup (size > 0 ? arguments : comm);
  return found;
}

static GPtrArray *
find_all (const char *name)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (free_found);
  g_autoptr (GDir) proc = g_dir_open ("/proc", 0, NULL);
  const char *entry;

  while (proc != NULL && (entry = g_dir_read_name (proc)) != NULL)
    {
      gint pid = g_ascii_isdigit (entry[0]) ? atoi (entry) : 0;
      Found *found = pid > 0 && pid != getpid () ? match (pid, name) : NULL;

      if (found != NULL)
        g_ptr_array_add (all, found);
    }
  return all;
}

gint
sysprof_cli_find_process (const char *name, GError **error)
{
  g_autoptr (GPtrArray) all = find_all (name);
  g_autoptr (GString) list = g_string_new (NULL);

  if (all->len == 1)
    return ((const Found *) g_ptr_array_index (all, 0))->pid;
  if (all->len == 0)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "--pid %s: no process has this name. Give a name or a number that ps shows.",
                   name);
      return 0;
    }
  for (guint i = 0; i < MIN (all->len, ROWS_MAX); i++)
    {
      const Found *found = g_ptr_array_index (all, i);
      g_autofree char *line = sysprof_dup_one_line (found->arguments);
      g_autofree char *cut = sysprof_dup_ellipsized (line, COLUMNS_MAX);

      g_string_append_printf (list, "\n%9d  %s", found->pid, cut);
    }
  if (all->len > ROWS_MAX)
    g_string_append_printf (list, "\nand %u more", all->len - ROWS_MAX);
  g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
               "--pid %s: %u processes have this name. Give the numbers of those to sample, as "
               "--pid %d,%d:%s",
               name, all->len, ((const Found *) g_ptr_array_index (all, 0))->pid,
               ((const Found *) g_ptr_array_index (all, 1))->pid, list->str);
  return 0;
}
