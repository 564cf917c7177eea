// SPDX-License-Identifier: GPL-3.0-or-later

/* Translates numbers of other PID namespaces. See process-ids.h.
 *
 * Source: proc(5), NSpid in /proc/PID/status (Linux 4.1): the numbers of the task in each PID
 * namespace, the innermost last. */

#include "rings/process-ids.h"

#include "util/util.h"

#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define STATUS_MAX  4096 /* bytes; NSpid is in the first 500 */
#define THREADS_MAX 256  /* with more, reading their files would delay the recorder */

static pid_t
read_innermost (const char *path)
{
  autofd fd = open (path, O_RDONLY | O_CLOEXEC);
  char bytes[STATUS_MAX];
  ssize_t size = fd >= 0 ? read (fd, bytes, sizeof bytes) : 0;
  Text status = { bytes, bytes + MAX (size, 0) }, line, word;
  uint64_t innermost = 0;

  while (sysprof_text_next_line (&status, &line))
    if (sysprof_text_skip (&line, "NSpid:"))
      while (sysprof_text_next_word (&line, &word))
        if (!sysprof_text_u64 (&word, &innermost))
          return 0;
  return innermost <= INT32_MAX ? (pid_t) innermost : 0;
}

pid_t
sysprof_ring_find_inner_pid (pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/status", (int) pid);
  pid_t inner = pid > 0 ? read_innermost (path) : 0;

  return inner != pid ? inner : 0;
}

pid_t
sysprof_ring_find_thread (pid_t pid, pid_t inner)
{
  g_autofree char *folder = g_strdup_printf ("/proc/%d/task", (int) pid);
  g_autoptr (GDir) tasks = g_dir_open (folder, 0, NULL);
  const char *name;

  for (unsigned n = 0;
       tasks != NULL && n < THREADS_MAX && (name = g_dir_read_name (tasks)) != NULL; n++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%s/status", folder, name);

      if (read_innermost (path) == inner)
        return atoi (name);
    }
  return -1;
}
