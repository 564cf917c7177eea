// SPDX-License-Identifier: GPL-3.0-or-later

/* A capture that grows while it is followed: at every moment it answers as one that was opened at that moment for the
 * first time, and in the end as the whole one. */

#include "tests/data/fixed-seed.h"
#include "tests/views/check-same.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define HEADER_SIZE 256

static char *whole;
static gsize whole_size;

typedef struct
{
  char *folder;
  char *path;
  SysprofDocumentLoader *loader;
  SysprofDocument *document;
} Followed;

static SysprofDocumentLoader *
new_loader (const char *path)
{
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  SysprofDocumentLoader *loader = sysprof_document_loader_new (path);

  sysprof_document_loader_set_symbolize_options (loader, &options);
  return loader;
}

static void
append (const char *path, const void *bytes, size_t size)
{
  autofd fd = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

  g_assert_cmpint (write (fd, bytes, size), ==, (ssize_t) size);
}

/* A capture of `size` bytes, opened. */
static void
begin (Followed *self, const void *bytes, size_t size)
{
  g_autoptr (GError) error = NULL;

  self->folder = g_dir_make_tmp ("sysprof-follow-XXXXXX", NULL);
  self->path = g_build_filename (self->folder, "growing", NULL);
  append (self->path, bytes, size);
  self->loader = new_loader (self->path);
  self->document = sysprof_document_loader_load (self->loader, NULL, &error);
  g_assert_no_error (error);
}

static void
end (Followed *self)
{
  g_clear_object (&self->document);
  g_clear_object (&self->loader);
  (void) g_unlink (self->path); /* gone already where the test took it away */
  g_assert_no_errno (g_rmdir (self->folder));
  g_free (self->path);
  g_free (self->folder);
}

/* Whether there was something new. */
static bool
follow (Followed *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SysprofDocument) newer =
      sysprof_document_loader_follow (self->loader, self->document, NULL, &error);

  g_assert_no_error (error);
  return newer != NULL && g_set_object (&self->document, newer);
}

static void
check_like_new (Followed *self)
{
  g_autoptr (SysprofDocumentLoader) loader = new_loader (self->path);
  g_autoptr (GError) error = NULL;
  g_autoptr (SysprofDocument) fresh = sysprof_document_loader_load (loader, NULL, &error);

  g_assert_no_error (error);
  check_same (self->document, fresh);
}

/* In pieces that end anywhere, also in the middle of frames. */
static void
test_grows (void)
{
  Followed followed;
  size_t size = HEADER_SIZE;
  guint n_frames = 0;

  begin (&followed, whole, size);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (followed.document)), ==, 0);
  while (size < whole_size)
    {
      size_t wanted = (size_t) g_test_rand_int_range (1, 4000);
      size_t more = MIN (wanted, whole_size - size);

      g_assert_false (follow (&followed));
      append (followed.path, whole + size, more);
      size += more;
      g_assert_true (follow (&followed));
      g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (followed.document)), >=,
                        n_frames);
      n_frames = g_list_model_get_n_items (G_LIST_MODEL (followed.document));
      check_like_new (&followed);
    }
  g_assert_cmpuint (n_frames, >, 100);
  end (&followed);
}

/* A recorder writes the end into the header last, which makes no file longer. */
static void
test_sees_end_time (void)
{
  Followed followed;
  int64_t end_time = INT64_MAX;
  autofd fd = -1;

  begin (&followed, whole, HEADER_SIZE);
  fd = open (followed.path, O_WRONLY | O_CLOEXEC);
  g_assert_cmpint (pwrite (fd, &end_time, sizeof end_time, 80), ==, sizeof end_time);
  g_assert_true (follow (&followed));
  check_like_new (&followed);
  end (&followed);
}

static void
test_another_file_in_its_place (void)
{
  Followed followed;
  g_autofree char *other = NULL;

  begin (&followed, whole, whole_size);
  other = g_build_filename (followed.folder, "other", NULL);
  append (other, whole, HEADER_SIZE);
  g_assert_no_errno (g_rename (other, followed.path));
  g_assert_true (follow (&followed));
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (followed.document)), ==, 0);
  end (&followed);
}

/* Missing bytes read as zeros in the earlier document, and crash no reader. */
static void
test_file_that_shrinks (void)
{
  Followed followed;

  begin (&followed, whole, whole_size);
  g_assert_no_errno (truncate (followed.path, HEADER_SIZE));
  g_assert_true (follow (&followed));
  check_like_new (&followed);
  end (&followed);
}

static void
test_compressed (void)
{
  Followed followed;
  g_autoptr (GConverter) compressor =
      G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 6));
  g_autofree char *packed = g_malloc (whole_size + 1024);
  gsize n_read, n_written;
  g_autoptr (GError) error = NULL;

  g_converter_convert (compressor, whole, whole_size, packed, whole_size + 1024,
                       G_CONVERTER_INPUT_AT_END, &n_read, &n_written, &error);
  g_assert_no_error (error);
  begin (&followed, packed, n_written * 3 / 4);
  g_assert_true (g_str_has_prefix (sysprof_document_get_store (followed.document)->damage,
                                   "The compressed data end early"));
  append (followed.path, packed + n_written * 3 / 4, n_written - n_written * 3 / 4);
  g_assert_true (follow (&followed));
  check_like_new (&followed);
  end (&followed);
}

static void
test_errors (void)
{
  Followed followed;
  int ends[2];
  g_autoptr (GError) error = NULL;
  g_autoptr (SysprofDocumentLoader) loader = NULL;

  begin (&followed, whole, whole_size);
  g_assert_no_errno (g_unlink (followed.path));
  g_assert_null (
      sysprof_document_loader_follow (followed.loader, followed.document, NULL, &error));
  g_assert_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "Cannot follow"));
  g_clear_error (&error);

  g_assert_no_errno (pipe (ends));
  loader = sysprof_document_loader_new_for_fd (ends[0], &error);
  g_assert_null (sysprof_document_loader_follow (loader, followed.document, NULL, &error));
  g_assert_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "Record to a file"));
  close (ends[0]);
  close (ends[1]);
  end (&followed);
}

int
main (int argc, char **argv)
{
  test_init_with_fixed_seed (&argc, &argv);
  g_assert_cmpint (argc, ==, 2);
  g_assert_true (g_file_get_contents (argv[1], &whole, &whole_size, NULL));

  g_test_add_func ("/views/follow/grows", test_grows);
  g_test_add_func ("/views/follow/sees-end-time", test_sees_end_time);
  g_test_add_func ("/views/follow/another-file-in-its-place", test_another_file_in_its_place);
  g_test_add_func ("/views/follow/file-that-shrinks", test_file_that_shrinks);
  g_test_add_func ("/views/follow/compressed", test_compressed);
  g_test_add_func ("/views/follow/errors", test_errors);
  return g_test_run ();
}
