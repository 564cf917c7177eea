// SPDX-License-Identifier: GPL-3.0-or-later

/* A shell prints the environment, directory and descriptors that a program gets from a
 * SysprofSpawnable. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sysprof.h>
#include <unistd.h>

/* Returns the output of `script` when `spawnable` runs it in a shell. */
static char *
output_of (SysprofSpawnable *spawnable, const char *script)
{
  g_autoptr (GSubprocess) subprocess = NULL;
  g_autoptr (GError) error = NULL;
  char *output = NULL;

  sysprof_spawnable_append_args (spawnable,
                                 (const char *const[]){ "/bin/sh", "-c", script, NULL });
  sysprof_spawnable_set_flags (spawnable, G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  subprocess = sysprof_spawnable_spawn (spawnable, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (subprocess, NULL, NULL, &output, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_successful (subprocess));
  return output;
}

static int
open_null (void)
{
  int fd = open ("/dev/null", O_RDWR | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static void
test_arguments (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autofree char *joined = NULL;

  g_assert_null (sysprof_spawnable_get_argv (spawnable)[0]);
  sysprof_spawnable_append_argv (spawnable, "b");
  sysprof_spawnable_prepend_argv (spawnable, "a");
  sysprof_spawnable_append_args (spawnable, (const char *const[]){ "c", "d e", NULL });
  sysprof_spawnable_append_args (spawnable, NULL);
  joined = g_strjoinv ("|", (char **) sysprof_spawnable_get_argv (spawnable));
  g_assert_cmpstr (joined, ==, "a|b|c|d e");
}

static void
count_notification (SysprofSpawnable *spawnable, GParamSpec *pspec, gpointer data)
{
  g_string_append_printf (data, "%s ", pspec->name);
}

static void
test_properties (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autoptr (GString) told = g_string_new (NULL);
  g_auto (GStrv) argv = NULL;
  g_auto (GStrv) environ_ = NULL;
  g_autofree char *joined = NULL;
  g_autofree char *cwd = NULL;
  GSubprocessFlags flags;

  g_signal_connect (spawnable, "notify", G_CALLBACK (count_notification), told);
  sysprof_spawnable_append_argv (spawnable, "b");
  sysprof_spawnable_prepend_argv (spawnable, "a");
  sysprof_spawnable_set_cwd (spawnable, "/usr");
  sysprof_spawnable_set_environ (spawnable, (const char *const[]){ "X=1", NULL });
  sysprof_spawnable_setenv (spawnable, "X", "2");
  sysprof_spawnable_set_flags (spawnable, G_SUBPROCESS_FLAGS_STDIN_INHERIT);
  g_assert_cmpstr (told->str, ==, "argv argv cwd environ environ flags ");

  g_object_get (spawnable, "argv", &argv, "cwd", &cwd, "environ", &environ_, "flags", &flags,
                NULL);
  joined = g_strjoinv ("|", argv);
  g_assert_cmpstr (joined, ==, "a|b");
  g_assert_cmpstr (cwd, ==, "/usr");
  g_assert_cmpstr (environ_[0], ==, "X=2");
  g_assert_null (environ_[1]);
  g_assert_cmpuint (flags, ==, G_SUBPROCESS_FLAGS_STDIN_INHERIT);
}

static void
test_directory (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autofree char *output = NULL;

  g_assert_null (sysprof_spawnable_get_cwd (spawnable));
  sysprof_spawnable_set_cwd (spawnable, "/usr");
  g_assert_cmpstr (sysprof_spawnable_get_cwd (spawnable), ==, "/usr");
  output = output_of (spawnable, "pwd -P");
  g_assert_cmpstr (output, ==, "/usr\n");
}

static void
test_environment (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autofree char *output = NULL;

  /* Ours, until it is replaced. */
  g_assert_cmpstr (sysprof_spawnable_getenv (spawnable, "PATH"), ==, g_getenv ("PATH"));

  sysprof_spawnable_set_environ (spawnable, NULL);
  g_assert_null (sysprof_spawnable_get_environ (spawnable));
  g_assert_null (sysprof_spawnable_getenv (spawnable, "PATH"));
  sysprof_spawnable_setenv (spawnable, "A", "1");
  sysprof_spawnable_setenv (spawnable, "B", "x=y z");
  sysprof_spawnable_setenv (spawnable, "A", "2");
  sysprof_spawnable_setenv (spawnable, "C", "gone");
  sysprof_spawnable_setenv (spawnable, "C", NULL);
  g_assert_cmpstr (sysprof_spawnable_getenv (spawnable, "A"), ==, "2");

  output = output_of (spawnable,
                      "/usr/bin/env | /usr/bin/sort | /bin/grep -v ^PWD= | /bin/grep -v ^_=");
  g_assert_cmpstr (output, ==, "A=2\nB=x=y z\n");
}

static void
test_cleared_environment (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autofree char *output = NULL;

  sysprof_spawnable_set_environ (spawnable, NULL);
  output = output_of (spawnable, "/usr/bin/tr '\\0' '\\n' < /proc/$$/environ");
  g_assert_cmpstr (output, ==, "");
}

static void
test_preload (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();

  sysprof_spawnable_set_environ (spawnable, NULL);
  sysprof_spawnable_add_ld_preload (spawnable, "/a.so");
  g_assert_cmpstr (sysprof_spawnable_getenv (spawnable, "LD_PRELOAD"), ==, "/a.so");
  sysprof_spawnable_add_ld_preload (spawnable, "/b.so");
  g_assert_cmpstr (sysprof_spawnable_getenv (spawnable, "LD_PRELOAD"), ==, "/b.so:/a.so");
}

static void
note_fd (int dest_fd, int fd, gpointer user_data)
{
  g_assert_cmpint (fcntl (fd, F_GETFD), >=, 0);
  g_string_append_printf (user_data, "%d ", dest_fd);
}

static void
test_numbers_of_descriptors (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autoptr (GString) numbers = g_string_new (NULL);
  int replaced = open_null ();

  g_assert_cmpint (sysprof_spawnable_take_fd (spawnable, open_null (), -1), ==, 3);
  g_assert_cmpint (sysprof_spawnable_take_fd (spawnable, replaced, 5), ==, 5);
  g_assert_cmpint (sysprof_spawnable_take_fd (spawnable, open_null (), -1), ==, 4);
  g_assert_cmpint (sysprof_spawnable_take_fd (spawnable, open_null (), -1), ==, 6);
  g_assert_cmpint (sysprof_spawnable_take_fd (spawnable, open_null (), 5), ==, 5);
  g_assert_cmpint (fcntl (replaced, F_GETFD), <, 0);

  sysprof_spawnable_set_starting_fd (spawnable, 20);
  g_assert_cmpint (sysprof_spawnable_take_fd (spawnable, open_null (), -1), ==, 20);
  sysprof_spawnable_set_starting_fd (spawnable, -1);
  g_assert_cmpint (sysprof_spawnable_take_fd (spawnable, open_null (), -1), ==, 2);

  sysprof_spawnable_foreach_fd (spawnable, note_fd, numbers);
  g_assert_cmpstr (numbers->str, ==, "3 4 6 5 20 2 ");
}

static void
test_child_has_descriptors (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autofree char *output = NULL;
  char text[16] = "";
  int ends[2];

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  g_assert_cmpint (sysprof_spawnable_take_fd (spawnable, ends[1], 7), ==, 7);
  output = output_of (spawnable, "printf seven >&7; echo done");
  g_assert_cmpstr (output, ==, "done\n");
  g_assert_cmpint (read (ends[0], text, sizeof text - 1), ==, 5);
  g_assert_cmpstr (text, ==, "seven");
  close (ends[0]);
}

static void
test_standard_output_is_handed_over (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autoptr (GSubprocess) subprocess = NULL;
  g_autoptr (GError) error = NULL;
  char text[16] = "";
  int ends[2];

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  sysprof_spawnable_take_fd (spawnable, ends[1], STDOUT_FILENO);
  sysprof_spawnable_append_args (spawnable, (const char *const[]){ "/bin/echo", "one", NULL });
  subprocess = sysprof_spawnable_spawn (spawnable, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_wait_check (subprocess, NULL, &error));
  g_assert_cmpint (read (ends[0], text, sizeof text - 1), ==, 4);
  g_assert_cmpstr (text, ==, "one\n");
  close (ends[0]);
}

static void
test_trace_fd (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autofree char *output = NULL;
  char text[16] = "";
  int fd = sysprof_spawnable_add_trace_fd (spawnable, NULL);
  int other = sysprof_spawnable_add_trace_fd (spawnable, "GJS_TRACE_FD");
  struct stat info;

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (other, >=, 0);
  g_assert_cmpint (fd, !=, other);
  g_assert_cmpstr (sysprof_spawnable_getenv (spawnable, "SYSPROF_TRACE_FD"), ==, "3");
  g_assert_cmpstr (sysprof_spawnable_getenv (spawnable, "GJS_TRACE_FD"), ==, "4");

  output = output_of (spawnable, "printf trace >&$SYSPROF_TRACE_FD");
  g_assert_cmpint (pread (fd, text, sizeof text - 1, 0), ==, 5);
  g_assert_cmpstr (text, ==, "trace");
  g_assert_cmpint (fstat (other, &info), ==, 0);
  g_assert_cmpint (info.st_size, ==, 0);
  close (fd);
  close (other);
}

static void
test_starts_twice (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  int fd = sysprof_spawnable_add_trace_fd (spawnable, NULL);
  char text[8] = "";

  sysprof_spawnable_append_args (
      spawnable, (const char *const[]){ "/bin/sh", "-c", "printf x >&3", NULL });
  for (int i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GSubprocess) subprocess = sysprof_spawnable_spawn (spawnable, &error);

      g_assert_no_error (error);
      g_assert_true (g_subprocess_wait_check (subprocess, NULL, &error));
    }
  g_assert_cmpint (pread (fd, text, sizeof text - 1, 0), ==, 2);
  close (fd);
}

static void
test_command_that_does_not_exist (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autoptr (GError) error = NULL;

  sysprof_spawnable_append_argv (spawnable, "/nonexistent/program");
  g_assert_null (sysprof_spawnable_spawn (spawnable, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "Cannot start '/nonexistent/program'"));
  g_assert_nonnull (strstr (error->message, g_strerror (ENOENT)));
}

static void
test_directory_that_does_not_exist (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autoptr (GError) error = NULL;

  sysprof_spawnable_append_argv (spawnable, "true");
  sysprof_spawnable_set_cwd (spawnable, "/nonexistent");
  g_assert_null (sysprof_spawnable_spawn (spawnable, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "/nonexistent"));
}

static void
test_no_command (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (sysprof_spawnable_spawn (spawnable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/spawnable/arguments", test_arguments);
  g_test_add_func ("/record/spawnable/properties", test_properties);
  g_test_add_func ("/record/spawnable/directory", test_directory);
  g_test_add_func ("/record/spawnable/environment", test_environment);
  g_test_add_func ("/record/spawnable/cleared-environment", test_cleared_environment);
  g_test_add_func ("/record/spawnable/preload", test_preload);
  g_test_add_func ("/record/spawnable/numbers-of-descriptors", test_numbers_of_descriptors);
  g_test_add_func ("/record/spawnable/child-has-descriptors", test_child_has_descriptors);
  g_test_add_func ("/record/spawnable/standard-output", test_standard_output_is_handed_over);
  g_test_add_func ("/record/spawnable/trace-fd", test_trace_fd);
  g_test_add_func ("/record/spawnable/starts-twice", test_starts_twice);
  g_test_add_func ("/record/spawnable/no-such-command", test_command_that_does_not_exist);
  g_test_add_func ("/record/spawnable/no-such-directory", test_directory_that_does_not_exist);
  g_test_add_func ("/record/spawnable/no-command", test_no_command);
  return g_test_run ();
}
