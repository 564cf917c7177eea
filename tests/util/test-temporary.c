// SPDX-License-Identifier: GPL-3.0-or-later

/* Temporary files without a name. */

#include "util/temporary-files.h"

#include <errno.h>
#include <glib.h>
#include <sys/stat.h>
#include <unistd.h>

static void
test_has_no_name (void)
{
  int fd = sysprof_temporary_file_open_unnamed ();
  struct stat info;
  char bytes[3];

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fstat (fd, &info), ==, 0);
  g_assert_cmpuint (info.st_nlink, ==, 0);
  g_assert_cmpuint (info.st_mode & 0777, ==, 0600);
  g_assert_cmpint (write (fd, "abc", 3), ==, 3);
  g_assert_cmpint (pread (fd, bytes, 3, 0), ==, 3);
  g_assert_cmpmem (bytes, 3, "abc", 3);
  close (fd);
}

static void
test_refused_without_a_directory (void)
{
  if (g_getenv ("MESON_EXE_WRAPPER") != NULL)
    {
      g_test_skip ("this program cannot start itself where it needs an emulator");
      return;
    }
  if (!g_test_subprocess ())
    {
      /* GLib reads the directory once per process. */
      g_setenv ("TMPDIR", "/no/such/directory", TRUE);
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
      g_test_trap_assert_passed ();
      return;
    }
  g_assert_cmpint (sysprof_temporary_file_open_unnamed (), ==, -1);
  g_assert_cmpint (errno, ==, ENOENT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/temporary/has-no-name", test_has_no_name);
  g_test_add_func ("/temporary/refused-without-a-directory", test_refused_without_a_directory);
  return g_test_run ();
}
