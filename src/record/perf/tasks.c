// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/perf/tasks.h"

#include "util/util.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#define MAX_STATUS_SIZE 4096

static bool
parse_number (const char *name, int *number)
{
  Text text = sysprof_text_from_string (name);
  uint64_t value;

  if (!sysprof_text_u64 (&text, &value) || sysprof_text_size (text) > 0 || value > G_MAXINT)
    return false;

  *number = (int) value;
  return true;
}

/* Appends the entries of `path` that are numbers. */
static bool
append_numbers (GArray *numbers, const char *path)
{
  DIR *directory = opendir (path);
  struct dirent *entry;

  if (directory == NULL)
    return false;

  while ((entry = readdir (directory)) != NULL)
    {
      int number;

      if (parse_number (entry->d_name, &number))
        g_array_append_val (numbers, number);
    }
  (void) closedir (directory);
  return true;
}

bool
sysprof_tasks_append_threads (GArray *tasks, pid_t pid)
{
  char path[64];

  g_snprintf (path, sizeof path, "/proc/%d/task", pid);
  return append_numbers (tasks, path);
}

GArray *
sysprof_tasks_list_processes (void)
{
  GArray *pids = g_array_new (false, false, sizeof (int32_t));

  (void) append_numbers (pids, "/proc"); /* without /proc there is nobody to be seen */
  return pids;
}

void
sysprof_tasks_append_of_user (GArray *tasks, uid_t uid)
{
  g_autoptr (GArray) pids = sysprof_tasks_list_processes ();

  for (guint i = 0; i < pids->len; i++)
    {
      char path[64];
      struct stat info;

      g_snprintf (path, sizeof path, "/proc/%d", g_array_index (pids, int32_t, i));
      if (stat (path, &info) == 0 && info.st_uid == uid)
        (void) sysprof_tasks_append_threads (tasks, g_array_index (pids, int32_t, i));
    }
}

bool
sysprof_tasks_get_user (int status_fd, uid_t *uid)
{
  char bytes[MAX_STATUS_SIZE];
  ssize_t size = read (status_fd, bytes, sizeof bytes);
  Text text = { bytes, bytes + MAX (size, 0) }, line;

  while (sysprof_text_next_line (&text, &line))
    {
      Text real, effective;
      uint64_t number;

      /* "Uid:	1000	1000	1000	1000": real, effective, saved, file system */
      if (!sysprof_text_skip (&line, "Uid:") || !sysprof_text_next_word (&line, &real) ||
          !sysprof_text_next_word (&line, &effective) ||
          !sysprof_text_u64 (&effective, &number))
        continue;

      *uid = (uid_t) number;
      return true;
    }
  return false;
}
