// SPDX-License-Identifier: GPL-3.0-or-later

/* The children that make tables, from outside. */

#pragma once

#include "unwinder/files.h"

#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool
can_find_builders (void)
{
  return g_file_test ("/proc/thread-self/children", G_FILE_TEST_EXISTS);
}

/* Of children of this thread the one whom the kernel lets do little. */
static inline bool
is_builder (const char *pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%s/status", pid);
  g_autofree char *status = NULL;

  return g_file_get_contents (path, &status, NULL, NULL) &&
         strstr (status, "\nSeccomp:\t2\n") != NULL && strstr (status, "(zombie)") == NULL;
}

/* All that CodeFiles has begun with, on this thread; they are dead then. */
static inline void
kill_builders (void)
{
  const unsigned n_builders = CLAMP (g_get_num_processors (), 1, 4);

  for (unsigned n = 0; n < n_builders;) /* each is confined soon after it began */
    {
      g_autofree char *children = NULL;
      g_auto (GStrv) pid = NULL;
      siginfo_t ended;

      g_assert_true (g_file_get_contents ("/proc/thread-self/children", &children, NULL, NULL));
      pid = g_strsplit (g_strchomp (children), " ", -1);
      for (unsigned i = 0; pid[i] != NULL; i++)
        if (is_builder (pid[i]))
          {
            g_assert_cmpint (kill (atoi (pid[i]), SIGKILL), ==, 0);
            g_assert_cmpint (waitid (P_PID, (id_t) atoi (pid[i]), &ended, WEXITED | WNOWAIT),
                             ==, 0);
            n++;
          }
    }
}

/* Waits for the results of the builders. Returns whether tables arrived. */
static inline bool
collect_when_told (CodeFiles *files, int wake_fd)
{
  struct pollfd done = { .fd = wake_fd, .events = POLLIN };
  uint64_t times;

  g_assert_cmpint (poll (&done, 1, -1), ==, 1);
  (void) !read (wake_fd, &times, sizeof times);
  return sysprof_code_files_collect (files);
}
