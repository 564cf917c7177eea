// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads /proc. A process or thread can exit at any time, so no function may rely on an earlier
 * result. */

#include "access/tasks.h"

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

/* Appends the entries that are numbers. Takes ownership of the directory `fd`. */
static bool
append_numbers (GArray *numbers, int fd)
{
  DIR *directory = fd >= 0 ? fdopendir (fd) : NULL;
  struct dirent *entry;

  if (directory == NULL)
    {
      sysprof_autofd_close (&fd);
      return false;
    }

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
sysprof_tasks_append_threads (GArray *tasks, Privilege *privilege, pid_t pid)
{
  return append_numbers (tasks, sysprof_privilege_open_process_file (privilege, pid, "task"));
}

GArray *
sysprof_tasks_list_processes (Privilege *privilege)
{
  GArray *pids = g_array_new (false, false, sizeof (int32_t));

  /* Without /proc the list is empty. */
  (void) append_numbers (pids, sysprof_privilege_open_processes (privilege));
  return pids;
}

void
sysprof_tasks_append_of_user (GArray *tasks, Privilege *privilege, uid_t uid)
{
  g_autoptr (GArray) pids = sysprof_tasks_list_processes (privilege);

  for (guint i = 0; i < pids->len; i++)
    {
      pid_t pid = g_array_index (pids, int32_t, i);
      autofd fd = sysprof_privilege_open_process_file (privilege, pid, "task");
      struct stat info;

      if (fd >= 0 && fstat (fd, &info) == 0 && info.st_uid == uid)
        (void) append_numbers (tasks, sysprof_steal_fd (&fd)); /* the process may have exited */
    }
}

bool
sysprof_tasks_is_there (Privilege *privilege, pid_t id)
{
  autofd fd = sysprof_privilege_open_process_file (privilege, id, "status");

  return fd >= 0;
}

/* Finds the line that starts with `key` and returns the rest of it. */
static bool
find_in_status (int fd, const char *key, char status[MAX_STATUS_SIZE], Text *value)
{
  ssize_t size = read (fd, status, MAX_STATUS_SIZE);
  Text text = { status, status + MAX (size, 0) }, line;

  while (sysprof_text_next_line (&text, &line))
    if (sysprof_text_skip (&line, key))
      {
        *value = line;
        return true;
      }
  return false;
}

int32_t
sysprof_tasks_find_process (Privilege *privilege, pid_t tid)
{
  autofd fd = sysprof_privilege_open_process_file (privilege, tid, "status");
  char status[MAX_STATUS_SIZE];
  Text value, word;
  uint64_t pid;

  return fd >= 0 && find_in_status (fd, "Tgid:", status, &value) &&
                 sysprof_text_next_word (&value, &word) && sysprof_text_u64 (&word, &pid)
             ? (int32_t) pid
             : 0;
}

bool
sysprof_tasks_get_user (int status_fd, uid_t *uid)
{
  char status[MAX_STATUS_SIZE];
  Text value, real, effective;
  uint64_t number;

  /* "Uid:	1000	1000	1000	1000": real, effective, saved, file system */
  if (!find_in_status (status_fd, "Uid:", status, &value) ||
      !sysprof_text_next_word (&value, &real) || !sysprof_text_next_word (&value, &effective) ||
      !sysprof_text_u64 (&effective, &number))
    return false;

  *uid = (uid_t) number;
  return true;
}
