// SPDX-License-Identifier: GPL-3.0-or-later

/* Output files must stay intact: the tests check files before, during and after a recording.
 * Compressed ones are unpacked with the usual programs. */

#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct
{
  char *directory;
  char *path;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  const char *name = data;

  self->directory = g_dir_make_tmp ("sysprof-output-XXXXXX", NULL);
  g_assert_nonnull (self->directory);
  self->path = g_build_filename (self->directory, name, NULL);
}

static guint
count_files (const char *directory)
{
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  g_unlink (self->path);
  /* Also says that no temporary file was left. */
  g_assert_cmpint (g_rmdir (self->directory), ==, 0);
  g_free (self->directory);
  g_free (self->path);
}

static void
assert_content (const char *path, const char *expected)
{
  g_autofree char *content = NULL;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, expected);
}

static void
test_new_file_is_there_at_once_and_goes_unless_committed (Fixture *self, gconstpointer data)
{
  g_auto (OutputFile) output = OUTPUT_INIT;
  GError *error = NULL;
  struct stat info;

  sysprof_cli_output_open (&output, self->path, OUTPUT_REFUSE_OLD, OUTPUT_AT_ONCE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (stat (self->path, &info), ==, 0);
  g_assert_cmphex (info.st_mode & 0137, ==, 0); /* nothing for others, whatever the umask */
  sysprof_cli_output_clear (&output);
  g_assert_false (g_file_test (self->path, G_FILE_TEST_EXISTS));

  sysprof_cli_output_open (&output, self->path, OUTPUT_REFUSE_OLD, OUTPUT_AT_ONCE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (write (output.fd, "new", 3), ==, 3);
  g_assert_true (sysprof_cli_output_commit (&output, &error));
  g_assert_true (sysprof_cli_output_close (&output, &error));
  sysprof_cli_output_clear (&output);
  assert_content (self->path, "new");
}

static void
test_old_file_stays_until_commit (Fixture *self, gconstpointer data)
{
  g_auto (OutputFile) output = OUTPUT_INIT;
  g_autoptr (GError) refused = NULL;
  GError *error = NULL;

  g_assert_true (g_file_set_contents (self->path, "old", -1, NULL));
  g_assert_false (sysprof_cli_output_open (&output, self->path, OUTPUT_REFUSE_OLD,
                                           OUTPUT_AT_ONCE, &refused));
  g_assert_nonnull (strstr (refused->message, "Use --force to overwrite"));
  sysprof_cli_output_clear (&output);

  sysprof_cli_output_open (&output, self->path, OUTPUT_REPLACE_OLD, OUTPUT_AT_ONCE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (write (output.fd, "new", 3), ==, 3);
  assert_content (self->path, "old");
  sysprof_cli_output_clear (&output); /* changes its mind */
  assert_content (self->path, "old");
  g_assert_cmpuint (count_files (self->directory), ==, 1);

  sysprof_cli_output_open (&output, self->path, OUTPUT_REPLACE_OLD, OUTPUT_AT_ONCE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (write (output.fd, "new", 3), ==, 3);
  g_assert_true (sysprof_cli_output_commit (&output, &error));
  assert_content (self->path, "new");
}

static void
test_old_file_is_renamed (Fixture *self, gconstpointer data)
{
  g_autofree char *old = g_strconcat (self->path, ".old", NULL);
  GError *error = NULL;

  g_assert_true (g_file_set_contents (self->path, "older", -1, NULL));
  g_assert_cmpint (chmod (self->path, 0600), ==, 0);
  for (int i = 0; i < 3; i++)
    {
      g_auto (OutputFile) output = OUTPUT_INIT;

      sysprof_cli_output_open (&output, self->path, OUTPUT_RENAME_OLD, OUTPUT_AT_ONCE, &error);
      g_assert_no_error (error);
      g_assert_cmpint (write (output.fd, &"abc"[i], 1), ==, 1);
      assert_content (self->path, i == 0 ? "older" : "a");
      /* The second is not committed. */
      if (i != 1)
        g_assert_true (sysprof_cli_output_commit (&output, &error));
    }
  assert_content (self->path, "c");
  assert_content (old, "a");
  g_assert_cmpint (g_unlink (old), ==, 0);
}

static void
test_link_stays_and_its_target_is_replaced (Fixture *self, gconstpointer data)
{
  g_auto (OutputFile) output = OUTPUT_INIT;
  g_autofree char *link = g_build_filename (self->directory, "link", NULL);
  GError *error = NULL;

  g_assert_true (g_file_set_contents (self->path, "old", -1, NULL));
  g_assert_cmpint (symlink (self->path, link), ==, 0);
  sysprof_cli_output_open (&output, link, OUTPUT_REPLACE_OLD, OUTPUT_AT_ONCE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (write (output.fd, "new", 3), ==, 3);
  g_assert_true (sysprof_cli_output_commit (&output, &error));
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  assert_content (self->path, "new");
  g_assert_cmpint (g_unlink (link), ==, 0);
}

static void
test_fifo_is_written_as_it_is (Fixture *self, gconstpointer data)
{
  g_auto (OutputFile) output = OUTPUT_INIT;
  GError *error = NULL;
  char bytes[3];
  int reader;

  g_assert_cmpint (mkfifo (self->path, 0600), ==, 0);
  reader = open (self->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  sysprof_cli_output_open (&output, self->path, OUTPUT_REFUSE_OLD, OUTPUT_AT_ONCE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (write (output.fd, "new", 3), ==, 3);
  g_assert_cmpint (read (reader, bytes, 3), ==, 3);
  sysprof_cli_output_clear (&output);
  g_assert_true (g_file_test (self->path, G_FILE_TEST_EXISTS));
  close (reader);
}

static void
test_unwritable_names_are_refused (Fixture *self, gconstpointer data)
{
  static const char *const names[] = { "/no-such-directory/x.syscap", "/proc/x.syscap",
                                       "/tmp" };

  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_auto (OutputFile) output = OUTPUT_INIT;
      g_autoptr (GError) error = NULL;

      g_assert_false (sysprof_cli_output_open (&output, names[i], OUTPUT_REPLACE_OLD,
                                               OUTPUT_AT_ONCE, &error));
      g_assert_nonnull (strstr (error->message, names[i]));
    }
}

static void
test_compressed_output_unpacks_to_the_same (Fixture *self, gconstpointer data)
{
  static const struct
  {
    const char *suffix;
    const char *program;
  } kinds[] = { { ".gz", "gzip" }, { ".xz", "xz" }, { ".bz2", "bzip2" }, { ".zst", "zstd" } };
  g_autoptr (GRand) random = g_rand_new_with_seed (20231105);
  gsize size = 5 * 1024 * 1024 + 17;
  g_autofree uint32_t *bytes = g_malloc (size + sizeof (uint32_t));
  guint n_checked = 0;

  /* Blocks of random bytes and blocks of equal bytes, alternating. */
  for (gsize i = 0; i <= size / sizeof (uint32_t); i++)
    bytes[i] = (i >> 10) % 2 == 0 ? g_rand_int (random) : (uint32_t) (i >> 5);

  for (size_t k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      g_auto (OutputFile) output = OUTPUT_INIT;
      g_autofree char *path = g_strconcat (self->path, kinds[k].suffix, NULL);
      g_autofree char *program = g_find_program_in_path (kinds[k].program);
      g_autofree char *unpacked = g_strconcat (self->path, ".unpacked", NULL);
      g_autofree char *command = NULL;
      g_autofree char *content = NULL;
      GError *error = NULL;
      gsize done = 0;
      gsize n;
      int status;

      if (program == NULL)
        continue;
      sysprof_cli_output_open (&output, path, OUTPUT_REFUSE_OLD, OUTPUT_AT_ONCE, &error);
      g_assert_no_error (error);
      while (done < size)
        {
          ssize_t n_written =
              write (output.fd, (char *) bytes + done, MIN (size - done, 123457));

          g_assert_cmpint (n_written, >, 0);
          done += (gsize) n_written;
        }
      g_assert_true (sysprof_cli_output_close (&output, &error));
      g_assert_true (sysprof_cli_output_commit (&output, &error));

      command = g_strdup_printf ("sh -c '%s -dc %s >%s'", program, path, unpacked);
      g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, &status, NULL));
      g_assert_cmpint (status, ==, 0);
      g_assert_true (g_file_get_contents (unpacked, &content, &n, NULL));
      g_assert_cmpmem (content, n, bytes, size);
      g_unlink (path);
      g_unlink (unpacked);
      n_checked++;
    }
  if (n_checked < G_N_ELEMENTS (kinds))
    g_test_skip ("gzip, xz, bzip2 or zstd is not installed");
}

static void
test_compressor_tells_that_the_disk_is_full (Fixture *self, gconstpointer data)
{
  g_auto (OutputFile) output = OUTPUT_INIT;
  g_autoptr (GError) error = NULL;
  g_autofree char *bytes = g_malloc0 (1024 * 1024);

  /* A name that compresses, and a device that is always full. */
  g_assert_cmpint (symlink ("/dev/full", self->path), ==, 0);
  g_assert_true (
      sysprof_cli_output_open (&output, self->path, OUTPUT_REFUSE_OLD, OUTPUT_AT_ONCE, &error));
  for (guint i = 0; i < 8; i++)
    if (write (output.fd, bytes, 1024 * 1024) < 0)
      break; /* the reader's end is closed: as it must be */
  g_assert_false (sysprof_cli_output_close (&output, &error));
  g_assert_nonnull (strstr (error->message, g_strerror (ENOSPC)));
}

int
main (int argc, char **argv)
{
  signal (SIGPIPE, SIG_IGN);
  g_test_init (&argc, &argv, NULL);
#define ADD(name, file, function) \
  g_test_add ("/cli/output/" name, Fixture, file, set_up, function, tear_down)
  ADD ("new-file-is-there-at-once-and-goes-unless-committed", "x.syscap",
       test_new_file_is_there_at_once_and_goes_unless_committed);
  ADD ("old-file-stays-until-commit", "x.syscap", test_old_file_stays_until_commit);
  ADD ("old-file-is-renamed", "x.syscap", test_old_file_is_renamed);
  ADD ("link-stays-and-its-target-is-replaced", "x.syscap",
       test_link_stays_and_its_target_is_replaced);
  ADD ("fifo-is-written-as-it-is", "fifo", test_fifo_is_written_as_it_is);
  ADD ("unwritable-names-are-refused", "x.syscap", test_unwritable_names_are_refused);
  ADD ("compressed-output-unpacks-to-the-same", "x.syscap",
       test_compressed_output_unpacks_to_the_same);
  ADD ("compressor-tells-that-the-disk-is-full", "x.syscap.gz",
       test_compressor_tells_that_the_disk_is_full);
  return g_test_run ();
}
