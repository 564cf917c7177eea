// SPDX-License-Identifier: GPL-3.0-or-later

/* Temporary files are removed when a signal ends the process. */

#include "util/temporary-files.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct
{
  char folder[64];
  char kept[80];
  char removed[80];
} Files;

static void
make_files (Files *files)
{
  g_strlcpy (files->folder, "/tmp/sysprof-test-XXXXXX", sizeof files->folder);
  g_assert_nonnull (g_mkdtemp (files->folder));
  g_snprintf (files->kept, sizeof files->kept, "%s/kept", files->folder);
  g_snprintf (files->removed, sizeof files->removed, "%s/removed", files->folder);
  g_assert_true (g_file_set_contents (files->kept, "", 0, NULL));
  g_assert_true (g_file_set_contents (files->removed, "", 0, NULL));
}

static void
remove_files (Files *files)
{
  (void) g_unlink (files->removed); /* most tests have seen it go */
  g_assert_cmpint (g_unlink (files->kept), ==, 0);
  g_assert_cmpint (g_rmdir (files->folder), ==, 0);
}

/* Runs `child` in a process of its own; its status. */
static int
run (void (*child) (const Files *files, int number), const Files *files, int number)
{
  pid_t pid = fork ();
  int status;

  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      child (files, number);
      _exit (EXIT_SUCCESS);
    }
  while (waitpid (pid, &status, 0) < 0)
    g_assert_cmpint (errno, ==, EINTR);
  return status;
}

static void
end_with_signal (const Files *files, int number)
{
  (void) signal (number, SIG_DFL);
  sysprof_temporary_files_remove_on_signals ();
  sysprof_temporary_file_add (files->kept);
  sysprof_temporary_file_add (files->removed);
  sysprof_temporary_file_forget (files->kept);
  (void) raise (number);
}

static void
test_signals_remove_listed_files (void)
{
  static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

  for (size_t i = 0; i < G_N_ELEMENTS (signals); i++)
    {
      Files files;
      int status;

      make_files (&files);
      status = run (end_with_signal, &files, signals[i]);
      g_assert_true (WIFSIGNALED (status)); /* a waiting reader gets the correct state */
      g_assert_cmpint (WTERMSIG (status), ==, signals[i]);
      g_assert_false (g_file_test (files.removed, G_FILE_TEST_EXISTS));
      g_assert_true (g_file_test (files.kept, G_FILE_TEST_EXISTS));
      remove_files (&files);
    }
}

static void
ignore_signal (const Files *files, int number)
{
  (void) signal (number, SIG_IGN);
  sysprof_temporary_files_remove_on_signals ();
  sysprof_temporary_file_add (files->removed);
  (void) raise (number);
}

static void
test_ignored_signals_stay_ignored (void)
{
  Files files;
  int status;

  make_files (&files);
  status = run (ignore_signal, &files, SIGHUP);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == EXIT_SUCCESS);
  g_assert_true (g_file_test (files.removed, G_FILE_TEST_EXISTS));
  remove_files (&files);
}

static void
add_too_much (const Files *files, int number)
{
  g_autofree char *long_path = g_strnfill (100000, 'x');

  sysprof_temporary_file_add (long_path);
  sysprof_temporary_file_forget (NULL);
  sysprof_temporary_file_forget ("unknown");
  sysprof_temporary_file_add (files->removed);
  for (int i = 0; i < 100; i++)
    sysprof_temporary_file_add ("/nonexistent/file");
  sysprof_temporary_files_remove ();
}

static void
test_too_long_and_too_many_do_no_harm (void)
{
  Files files;
  int status;

  make_files (&files);
  status = run (add_too_much, &files, 0);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == EXIT_SUCCESS);
  g_assert_false (g_file_test (files.removed, G_FILE_TEST_EXISTS));
  remove_files (&files);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/temporary-files/signals-remove-listed-files",
                   test_signals_remove_listed_files);
  g_test_add_func ("/temporary-files/ignored-signals-stay-ignored",
                   test_ignored_signals_stay_ignored);
  g_test_add_func ("/temporary-files/too-long-and-too-many-do-no-harm",
                   test_too_long_and_too_many_do_no_harm);
  return g_test_run ();
}
