// SPDX-License-Identifier: GPL-3.0-or-later

/* Files that stay readable after their names are removed. */

#include "util/util.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* An envelope with a file that has no name any more, and says `text`. */
static int
seal_text (const char *text, struct stat *info)
{
  autofd fd = sysprof_temporary_file_open_unnamed ();

  g_assert_cmpint (fd, >=, 0);
  g_assert_true (sysprof_write_all (fd, text, strlen (text)));
  g_assert_cmpint (fstat (fd, info), ==, 0);
  return sysprof_envelope_seal (fd);
}

/* As if it had been changed at that time. */
static void
add (PinnedFiles *files, uint64_t inode, const char *path, time_t changed)
{
  struct stat info = { 0 };
  autofd envelope = seal_text (path, &info);

  g_assert_cmpint (envelope, >=, 0);
  info.st_ctim = (struct timespec){ .tv_sec = changed };
  sysprof_pinned_files_add (
      files, &(PinnedFile){
                 .inode = inode, .path = (char *) path, .envelope = envelope, .info = info });
}

static void
test_file_is_there_when_its_name_is_not (void)
{
  g_autoptr (PinnedFiles) files = sysprof_pinned_files_new (3);
  const PinnedFile *kept;
  char text[16] = "";

  add (files, 7, "/usr/bin/x", 1);
  kept = sysprof_pinned_files_find (files, 7, "/elsewhere", 0);
  g_assert_nonnull (kept);
  g_assert_cmpstr (kept->path, ==, "/usr/bin/x");
  for (unsigned i = 0; i < 2; i++) /* what is in the envelope stays there */
    {
      autofd fd = sysprof_envelope_open (kept->envelope);

      g_assert_cmpint (pread (fd, text, sizeof text - 1, 0), ==, 10);
      g_assert_cmpstr (text, ==, "/usr/bin/x");
    }
}

static void
test_finds_by_inode_else_by_path (void)
{
  g_autoptr (PinnedFiles) files = sysprof_pinned_files_new (9);

  add (files, 7, "/a", 1);
  add (files, 8, "/a", 2);
  add (files, 7, "/b", 3);
  g_assert_cmpstr (sysprof_pinned_files_find (files, 7, "/a", 0)->path, ==, "/b");
  g_assert_cmpstr (sysprof_pinned_files_find (files, 7, "/a", 1)->path, ==, "/a");
  g_assert_null (sysprof_pinned_files_find (files, 7, "/a", 2));
  g_assert_cmpuint (sysprof_pinned_files_find (files, 0, "/a", 0)->inode, ==, 8);
  g_assert_cmpuint (sysprof_pinned_files_find (files, 0, "/a", 1)->inode, ==, 7);
  g_assert_null (sysprof_pinned_files_find (files, 0, "/c", 0));
}

static void
test_keeps_a_file_once (void)
{
  g_autoptr (PinnedFiles) files = sysprof_pinned_files_new (9);

  add (files, 7, "/a", 1);
  add (files, 7, "/seen/a", 1);
  g_assert_null (sysprof_pinned_files_find (files, 7, NULL, 1));
  add (files, 7, "/a", 2); /* another one, which was given the number again */
  g_assert_nonnull (sysprof_pinned_files_find (files, 7, NULL, 1));
  g_assert_null (sysprof_pinned_files_find (files, 7, NULL, 2));
}

static void
test_lets_go_what_was_not_changed_for_longest (void)
{
  g_autoptr (PinnedFiles) files = sysprof_pinned_files_new (2);

  add (files, 1, "/old", 10);
  add (files, 2, "/young", 30);
  g_assert_cmpuint (sysprof_pinned_files_get_n_released (files), ==, 0);
  add (files, 3, "/middle", 20);
  g_assert_null (sysprof_pinned_files_find (files, 1, NULL, 0));
  add (files, 4, "/oldest", 5);
  g_assert_null (sysprof_pinned_files_find (files, 4, NULL, 0));
  g_assert_nonnull (sysprof_pinned_files_find (files, 2, NULL, 0));
  g_assert_nonnull (sysprof_pinned_files_find (files, 3, NULL, 0));
  g_assert_cmpuint (sysprof_pinned_files_get_n_released (files), ==, 2);
}

static void
test_leaves_half_of_the_descriptors (void)
{
  struct rlimit before, limit;
  PinnedFiles *files;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  limit = before;
  limit.rlim_cur = 40;
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  files = sysprof_pinned_files_new (1000);
  for (unsigned i = 0; i < 100; i++)
    add (files, i + 1, "/x", i);
  g_assert_nonnull (sysprof_pinned_files_find (files, 0, "/x", 19));
  g_assert_null (sysprof_pinned_files_find (files, 0, "/x", 20));
  g_assert_cmpuint (sysprof_pinned_files_get_n_released (files), ==, 80);
  sysprof_pinned_files_free (files);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pinned-files/file-is-there-when-its-name-is-not",
                   test_file_is_there_when_its_name_is_not);
  g_test_add_func ("/pinned-files/finds-by-inode-else-by-path",
                   test_finds_by_inode_else_by_path);
  g_test_add_func ("/pinned-files/keeps-a-file-once", test_keeps_a_file_once);
  g_test_add_func ("/pinned-files/lets-go-what-was-not-changed-for-longest",
                   test_lets_go_what_was_not_changed_for_longest);
  g_test_add_func ("/pinned-files/leaves-half-of-the-descriptors",
                   test_leaves_half_of_the_descriptors);
  return g_test_run ();
}
