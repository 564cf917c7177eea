// SPDX-License-Identifier: GPL-3.0-or-later

/* The list of tasks comes from one door header only. Here it reads a tree of files made by
 * the test. */

#include "access/tasks.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MISSING_PID 4194303 /* the largest that a pid can be, less one */

/* --- the door --- */

struct Privilege
{
  char *root;
};

static int
open_below (Privilege *self, const char *path)
{
  g_autofree char *whole = g_build_filename (self->root, path, NULL);

  return open (whole, O_RDONLY | O_CLOEXEC);
}

int
sysprof_privilege_open_processes (Privilege *self)
{
  return open_below (self, ".");
}

int
sysprof_privilege_open_process_file (Privilege *self, pid_t pid, const char *name)
{
  g_autofree char *path = g_strdup_printf ("%d/%s", pid, name);

  return open_below (self, path);
}

/* --- processes that are not there --- */

static void
make_task (Privilege *self, int pid, int tid)
{
  g_autofree char *status =
      g_strdup_printf ("Name:\tone\nTgid:\t%d\nUid:\t7\t12345\t8\t9\n", pid);
  g_autofree char *thread = g_strdup_printf ("%s/%d/task/%d", self->root, pid, tid);
  g_autofree char *own = g_strdup_printf ("%s/%d", self->root, tid);
  g_autofree char *path = g_build_filename (own, "status", NULL);

  g_assert_cmpint (g_mkdir_with_parents (thread, 0755), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (own, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, status, -1, NULL));
}

static void
set_up (Privilege *self, gconstpointer data)
{
  g_autofree char *other = NULL;

  self->root = g_dir_make_tmp ("sysprof-tasks-XXXXXX", NULL);
  g_assert_nonnull (self->root);
  make_task (self, MISSING_PID - 1, MISSING_PID - 1);
  other = g_build_filename (self->root, "self", NULL);
  g_assert_cmpint (g_mkdir (other, 0755), ==, 0);
}

static void
tear_down (Privilege *self, gconstpointer data)
{
  const char *argv[] = { "rm", "-r", self->root, NULL };

  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                               NULL, NULL, NULL, NULL));
  g_free (self->root);
}

static void
test_processes (Privilege *self, gconstpointer data)
{
  g_autoptr (GArray) pids = sysprof_tasks_list_processes (self);

  g_assert_cmpuint (pids->len, ==, 1);
  g_assert_cmpint (g_array_index (pids, int32_t, 0), ==, MISSING_PID - 1);
}

static void
test_threads (Privilege *self, gconstpointer data)
{
  g_autoptr (GArray) tasks = g_array_new (false, false, sizeof (pid_t));

  make_task (self, MISSING_PID - 1, MISSING_PID - 2);
  g_assert_true (sysprof_tasks_append_threads (tasks, self, MISSING_PID - 1));
  g_assert_cmpuint (tasks->len, ==, 2);
  g_assert_false (sysprof_tasks_append_threads (tasks, self, getpid ()));
  g_assert_cmpint (sysprof_tasks_find_process (self, MISSING_PID - 2), ==, MISSING_PID - 1);
  g_assert_cmpint (sysprof_tasks_find_process (self, getpid ()), ==, 0);
  g_assert_true (sysprof_tasks_is_there (self, MISSING_PID - 2));
  g_assert_false (sysprof_tasks_is_there (self, getpid ()));
}

static void
test_of_user (Privilege *self, gconstpointer data)
{
  g_autoptr (GArray) tasks = g_array_new (false, false, sizeof (pid_t));

  sysprof_tasks_append_of_user (tasks, self, getuid () + 1);
  g_assert_cmpuint (tasks->len, ==, 0);
  sysprof_tasks_append_of_user (tasks, self, getuid ());
  g_assert_cmpuint (tasks->len, ==, 1);
  g_assert_cmpint (g_array_index (tasks, pid_t, 0), ==, MISSING_PID - 1);
}

static void
test_effective_user (Privilege *self, gconstpointer data)
{
  int fd = sysprof_privilege_open_process_file (self, MISSING_PID - 1, "status");
  uid_t uid = 0;

  g_assert_true (sysprof_tasks_get_user (fd, &uid));
  g_assert_cmpuint (uid, ==, 12345);
  (void) close (fd);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) \
  g_test_add ("/access/tasks/" name, Privilege, NULL, set_up, test, tear_down)
  ADD ("processes", test_processes);
  ADD ("threads", test_threads);
  ADD ("of-user", test_of_user);
  ADD ("effective-user", test_effective_user);
#undef ADD
  return g_test_run ();
}
