// SPDX-License-Identifier: GPL-3.0-or-later

/* The reader of captures: damaged, growing and copied files, and reads that fail. */

#include "capture/capture.h"
#include "join/join.h"
#include "scratch.h"
#include "vectors.h"

#include <errno.h>
#include <sys/stat.h>

static int n_reads_before_error = -1; /* -1 = none fails */

/* In place of the C library's. */
ssize_t
pread (int fd, void *bytes, size_t size, off_t offset)
{
  if (n_reads_before_error >= 0 && n_reads_before_error-- == 0)
    {
      errno = EIO;
      return -1;
    }
  if (lseek (fd, offset, SEEK_SET) < 0)
    return -1;
  return read (fd, bytes, size);
}

/* Every read fails once. What comes behind is missing, which must not pass for the end of the
 * file. */
static void
test_read_that_fails (void)
{
  SysprofCaptureReadStatus status;
  SysprofCaptureReader *reader;
  Scratch scratch, joined;
  int n_failed = 0;

  scratch_open (&scratch, 0);
  for (int i = 0; i < 40000; i++) /* 960 kB: several buffers */
    g_assert_true (sysprof_capture_writer_add_timestamp (scratch.writer, 1, 0, 1));
  g_assert_true (sysprof_capture_writer_flush (scratch.writer));

  for (int i = 0; i < 100; i++)
    {
      bool is_joined, has_failed;

      reader = scratch_reader (&scratch);
      scratch_open (&joined, 0);
      n_reads_before_error = i;
      errno = 0;
      is_joined = sysprof_capture_writer_join (joined.writer, &reader, 1, NULL, NULL);
      has_failed = n_reads_before_error < 0;
      n_reads_before_error = -1;
      g_assert_cmpint (is_joined, ==, !has_failed);
      if (has_failed)
        g_assert_cmpint (errno, ==, EIO);
      n_failed += has_failed;
      sysprof_capture_reader_get_status (reader, &status);
      if (!has_failed)
        g_assert_cmpint (status.error, ==, 0);
      sysprof_capture_reader_unref (reader);
      scratch_close (&joined);
    }
  g_assert_cmpint (n_failed, >, 6);
  g_assert_cmpint (n_failed, <, 100);

  reader = scratch_reader (&scratch);
  n_reads_before_error = 1;
  while (sysprof_capture_reader_skip (reader))
    continue;
  n_reads_before_error = -1;
  sysprof_capture_reader_get_status (reader, &status);
  g_assert_cmpint (status.error, ==, EIO);
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
write_files (Scratch *scratch)
{
  scratch_open (scratch, 0);
  g_assert_true (sysprof_capture_writer_add_timestamp (scratch->writer, 1, 0, 1));
  g_assert_true (sysprof_capture_writer_add_file (scratch->writer, 2, 0, 1, "a", FALSE,
                                                  (const uint8_t *) "hello", 5));
  g_assert_true (sysprof_capture_writer_add_file (scratch->writer, 3, 0, 1, "b", TRUE,
                                                  (const uint8_t *) "bb", 2));
  g_assert_true (sysprof_capture_writer_add_file (scratch->writer, 4, 0, 1, "a", TRUE,
                                                  (const uint8_t *) "world", 5));
  g_assert_true (sysprof_capture_writer_add_file (scratch->writer, 5, 0, 1, "a", TRUE,
                                                  (const uint8_t *) "twice", 5));
  g_assert_true (sysprof_capture_writer_add_file (scratch->writer, 6, 0, 1, "c", FALSE,
                                                  (const uint8_t *) "part", 4));
  g_assert_true (sysprof_capture_writer_flush (scratch->writer));
}

static void
assert_file (SysprofCaptureReader *reader, const char *path, const char *content)
{
  char bytes[64] = { 0 };
  int fd = sysprof_memfd_create ("file");

  g_assert_true (sysprof_capture_reader_read_file_fd (reader, path, fd));
  g_assert_cmpint (pread (fd, bytes, sizeof bytes, 0), ==, (gssize) strlen (content));
  g_assert_cmpstr (bytes, ==, content);
  close (fd);
}

static void
test_embedded_files (void)
{
  const SysprofCaptureFileChunk *chunk;
  SysprofCaptureReader *reader;
  SysprofCaptureFrame next;
  const char **names;
  Scratch scratch;

  write_files (&scratch);
  reader = scratch_reader (&scratch);

  names = sysprof_capture_reader_list_files (reader);
  g_assert_cmpstr (names[0], ==, "a");
  g_assert_cmpstr (names[1], ==, "b");
  g_assert_cmpstr (names[2], ==, "c");
  g_assert_null (names[3]);
  free (names);

  assert_file (reader, "a", "helloworld");
  assert_file (reader, "b", "bb");
  assert_file (reader, "c", "part");
  errno = 0;
  g_assert_false (sysprof_capture_reader_read_file_fd (reader, "d", 1));
  g_assert_cmpint (errno, ==, ENOENT);

  /* None of these moved the reader; looking for a file leaves it behind the first chunk. */
  g_assert_true (sysprof_capture_reader_peek_frame (reader, &next));
  g_assert_cmpint (next.time, ==, 1);
  chunk = sysprof_capture_reader_find_file (reader, "b");
  g_assert_cmpint (chunk->frame.time, ==, 3);
  g_assert_null (sysprof_capture_reader_find_file (reader, "d"));

  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
test_reading_goes_on_while_it_is_written (void)
{
  SysprofCaptureReader *reader;
  Scratch scratch;

  scratch_open (&scratch, 0);
  reader = sysprof_capture_writer_create_reader (scratch.writer);
  for (gint64 i = 0; i < 10; i++)
    {
      const SysprofCaptureExit *frame;

      g_assert_null (sysprof_capture_reader_read_exit (reader));
      g_assert_true (sysprof_capture_writer_add_exit (scratch.writer, i, 0, 0));
      g_assert_true (sysprof_capture_writer_flush (scratch.writer));
      frame = sysprof_capture_reader_read_exit (reader);
      g_assert_nonnull (frame);
      g_assert_cmpint (frame->frame.time, ==, i);
    }
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
test_copy_is_at_the_same_place (void)
{
  SysprofCaptureReader *reader, *copy;
  SysprofCaptureFrame next;
  Scratch scratch;

  write_files (&scratch);
  reader = scratch_reader (&scratch);
  g_assert_true (sysprof_capture_reader_skip (reader));
  g_assert_true (sysprof_capture_reader_skip (reader));
  copy = sysprof_capture_reader_copy (reader);
  g_assert_true (sysprof_capture_reader_skip (reader));
  g_assert_true (sysprof_capture_reader_peek_frame (copy, &next));
  g_assert_cmpint (next.time, ==, 3);
  sysprof_capture_reader_unref (copy);
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
test_counts (void)
{
  SysprofCaptureStat written, read;
  SysprofCaptureReader *reader;
  Scratch scratch;

  write_files (&scratch);
  sysprof_capture_writer_stat (scratch.writer, &written);
  reader = scratch_reader (&scratch);
  g_assert_true (sysprof_capture_reader_skip (reader));
  g_assert_true (sysprof_capture_reader_get_stat (reader, &read));
  g_assert_cmpmem (&written, sizeof written, &read, sizeof read);
  g_assert_cmpuint (read.frame_count[SYSPROF_CAPTURE_FRAME_FILE_CHUNK], ==, 5);

  read.frame_count[1] = 77;
  sysprof_capture_reader_set_stat (reader, &read);
  g_assert_true (sysprof_capture_reader_get_stat (reader, &written));
  g_assert_cmpuint (written.frame_count[1], ==, 77);
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
test_status_counts_what_is_left_out (void)
{
  SysprofCaptureReadStatus status;
  SysprofCaptureReader *reader;
  uint8_t frames[5 * 24];

  for (guint i = 0; i < 5; i++)
    memcpy (frames + i * 24, vector_timestamp, 24);
  frames[1 * 24 + 16] = 99;
  frames[2 * 24 + 16] = SYSPROF_CAPTURE_FRAME_SAMPLE; /* is longer */
  reader = reader_of_frames (frames, sizeof frames - 1, FALSE);
  for (guint i = 0; i < 2; i++)
    g_assert_nonnull (sysprof_capture_reader_read_timestamp (reader));
  g_assert_false (sysprof_capture_reader_skip (reader));

  sysprof_capture_reader_get_status (reader, &status);
  g_assert_cmpuint (status.n_unknown, ==, 1);
  g_assert_cmpuint (status.n_damaged, ==, 1);
  g_assert_cmpuint (status.end_offset, ==, 256 + 4 * 24);
  g_assert_true (status.is_cut);
  sysprof_capture_reader_unref (reader);
}

static void
test_save_as (void)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "sysprof-save-XXXXXX", NULL);
  g_autofree char *content = NULL;
  g_autofree char *longer = g_strnfill (100000, 'x');
  SysprofCaptureReader *reader;
  Scratch scratch;
  gsize size;
  int fd = g_mkstemp (path);

  /* Bytes of an earlier frame do not show through. */
  g_assert_cmpint (write (fd, longer, 100000), ==, 100000);
  close (fd);

  write_files (&scratch);
  g_assert_true (sysprof_capture_writer_save_as (scratch.writer, path));
  scratch_flush (&scratch);
  g_assert_true (g_file_get_contents (path, &content, &size, NULL));
  /* The end time is that of a later flush. */
  g_assert_cmpmem (content, 80, scratch.bytes, 80);
  g_assert_cmpmem (content + 88, size - 88, scratch.bytes + 88, scratch.size - 88);

  /* Onto itself. */
  reader = sysprof_capture_reader_new (path);
  g_assert_cmpstr (sysprof_capture_reader_get_filename (reader), ==, path);
  g_assert_true (sysprof_capture_reader_save_as (reader, path));
  g_assert_true (sysprof_capture_reader_skip (reader));
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
  unlink (path);
}

typedef struct
{
  guint n;
  guint limit; /* 0 = none */
  gint64 times[4096];
} Seen;

static bool
note (const SysprofCaptureFrame *frame, void *user_data)
{
  Seen *seen = user_data;

  g_assert_cmpuint (seen->n, <, G_N_ELEMENTS (seen->times));
  seen->times[seen->n++] = frame->time;

  return seen->n != seen->limit;
}

static void
write_samples (Scratch *scratch, guint n)
{
  static SysprofCaptureAddress addrs[1000];

  scratch_open (scratch, 0);
  for (guint i = 0; i < n; i++)
    g_assert_true (sysprof_capture_writer_add_sample (scratch->writer, i, 0, (gint) (i % 3), 0,
                                                      addrs, i % 1000));
  g_assert_true (sysprof_capture_writer_flush (scratch->writer));
}

static void
test_cursor_forward_and_backward (void)
{
  SysprofCaptureReader *reader;
  SysprofCaptureCursor *cursor;
  Seen seen = { 0 };
  Scratch scratch;

  write_samples (&scratch, 2000); /* many times the size of a buffer */
  reader = scratch_reader (&scratch);
  g_assert_true (sysprof_capture_reader_skip (reader));
  cursor = sysprof_capture_cursor_new (reader);

  seen.limit = 5;
  sysprof_capture_cursor_foreach (cursor, note, &seen);
  g_assert_cmpuint (seen.n, ==, 5);
  seen.limit = 0;
  sysprof_capture_cursor_foreach (cursor, note, &seen);
  g_assert_cmpuint (seen.n, ==, 2000);
  for (guint i = 0; i < 2000; i++)
    g_assert_cmpint (seen.times[i], ==, i);

  seen = (Seen){ .limit = 7 };
  sysprof_capture_cursor_reverse (cursor);
  sysprof_capture_cursor_foreach (cursor, note, &seen);
  g_assert_cmpuint (seen.n, ==, 7);
  seen.limit = 0;
  sysprof_capture_cursor_foreach (cursor, note, &seen);
  g_assert_cmpuint (seen.n, ==, 2000);
  for (guint i = 0; i < 2000; i++)
    g_assert_cmpint (seen.times[i], ==, 1999 - i);

  sysprof_capture_cursor_unref (cursor);
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static guint
count_matches (Scratch *scratch, SysprofCaptureCondition *condition)
{
  SysprofCaptureReader *reader = scratch_reader (scratch);
  SysprofCaptureCursor *cursor = sysprof_capture_cursor_new (reader);
  Seen seen = { 0 };

  sysprof_capture_cursor_add_condition (cursor, sysprof_capture_condition_copy (condition));
  sysprof_capture_condition_unref (condition);
  sysprof_capture_cursor_foreach (cursor, note, &seen);
  sysprof_capture_cursor_unref (cursor);
  sysprof_capture_reader_unref (reader);

  return seen.n;
}

static void
test_conditions (void)
{
  static const SysprofCaptureFrameType samples[] = { SYSPROF_CAPTURE_FRAME_SAMPLE };
  static const SysprofCaptureFrameType others[] = { SYSPROF_CAPTURE_FRAME_EXIT,
                                                    SYSPROF_CAPTURE_FRAME_FORK };
  static const int32_t pids[] = { 0, 2, 77 };
  Scratch scratch;

  write_samples (&scratch, 30);
  g_assert_true (sysprof_capture_writer_add_exit (scratch.writer, 100, 0, 1));
  g_assert_true (sysprof_capture_writer_flush (scratch.writer));

  g_assert_cmpuint (
      count_matches (&scratch, sysprof_capture_condition_new_where_type_in (1, samples)), ==,
      30);
  g_assert_cmpuint (
      count_matches (&scratch, sysprof_capture_condition_new_where_type_in (2, others)), ==, 1);
  g_assert_cmpuint (
      count_matches (&scratch, sysprof_capture_condition_new_where_type_in (0, NULL)), ==, 0);
  g_assert_cmpuint (
      count_matches (&scratch, sysprof_capture_condition_new_where_pid_in (3, pids)), ==, 20);
  g_assert_cmpuint (
      count_matches (&scratch, sysprof_capture_condition_new_where_time_between (5, 9)), ==, 5);
  g_assert_cmpuint (
      count_matches (&scratch, sysprof_capture_condition_new_and (
                                   sysprof_capture_condition_new_where_pid_in (1, pids),
                                   sysprof_capture_condition_new_where_time_between (0, 5))),
      ==, 2);
  g_assert_cmpuint (
      count_matches (&scratch, sysprof_capture_condition_new_or (
                                   sysprof_capture_condition_new_where_type_in (2, others),
                                   sysprof_capture_condition_new_where_time_between (0, 5))),
      ==, 7);
  scratch_close (&scratch);
}

static void
test_several_conditions_are_alternatives (void)
{
  SysprofCaptureReader *reader;
  SysprofCaptureCursor *cursor;
  Seen seen = { 0 };
  Scratch scratch;

  write_samples (&scratch, 30);
  reader = scratch_reader (&scratch);
  cursor = sysprof_capture_cursor_new (reader);
  sysprof_capture_cursor_add_condition (
      cursor, sysprof_capture_condition_new_where_time_between (0, 1));
  sysprof_capture_cursor_add_condition (
      cursor, sysprof_capture_condition_new_where_time_between (9, 9));
  sysprof_capture_cursor_foreach (cursor, note, &seen);
  g_assert_cmpuint (seen.n, ==, 3);
  sysprof_capture_cursor_unref (cursor);
  sysprof_capture_reader_unref (reader);
  scratch_close (&scratch);
}

static void
test_conditions_on_counters_and_files (void)
{
  static const unsigned int wanted[] = { 2 };
  static const unsigned int unknown[] = { 0, 9 };
  SysprofCaptureCounter counters[2] = { { .id = 1 }, { .id = 2 } };
  SysprofCaptureCounterValue values[2] = { { 0 } };
  unsigned int ids[2] = { 1, 2 };
  Scratch scratch;

  write_files (&scratch);
  g_assert_cmpuint (sysprof_capture_writer_request_counter (scratch.writer, 2), ==, 1);
  g_assert_true (sysprof_capture_writer_define_counters (scratch.writer, 7, 0, 0, counters, 2));
  g_assert_true (sysprof_capture_writer_set_counters (scratch.writer, 8, 0, 0, ids, values, 2));
  g_assert_true (sysprof_capture_writer_set_counters (scratch.writer, 9, 0, 0, ids, values, 1));
  g_assert_true (sysprof_capture_writer_flush (scratch.writer));

  g_assert_cmpuint (
      count_matches (&scratch, sysprof_capture_condition_new_where_counter_in (1, wanted)), ==,
      2);
  g_assert_cmpuint (
      count_matches (&scratch, sysprof_capture_condition_new_where_counter_in (2, unknown)), ==,
      0);
  g_assert_cmpuint (count_matches (&scratch, sysprof_capture_condition_new_where_file ("a")),
                    ==, 3);
  scratch_close (&scratch);
}

static void
test_context_markers (void)
{
  static const struct
  {
    gint64 marker;
    SysprofAddressContext context;
    const char *text;
  } markers[] = {
    { -32, SYSPROF_ADDRESS_CONTEXT_HYPERVISOR, "- - Hypervisor - -" },
    { -128, SYSPROF_ADDRESS_CONTEXT_KERNEL, "- - Kernel - -" },
    { -512, SYSPROF_ADDRESS_CONTEXT_USER, "- - User - -" },
    { -2048, SYSPROF_ADDRESS_CONTEXT_GUEST, "- - Guest - -" },
    { -2176, SYSPROF_ADDRESS_CONTEXT_GUEST_KERNEL, "- - Guest Kernel - -" },
    { -2560, SYSPROF_ADDRESS_CONTEXT_GUEST_USER, "- - Guest User - -" },
    { -640, SYSPROF_ADDRESS_CONTEXT_NONE, NULL },
    { -1, SYSPROF_ADDRESS_CONTEXT_NONE, NULL },
    { -4095, SYSPROF_ADDRESS_CONTEXT_NONE, NULL },
  };
  SysprofAddressContext context;

  for (gsize i = 0; i < G_N_ELEMENTS (markers); i++)
    {
      g_assert_true (
          sysprof_address_is_context_switch ((SysprofAddress) markers[i].marker, &context));
      g_assert_cmpint (context, ==, markers[i].context);
      if (markers[i].text != NULL)
        g_assert_cmpstr (sysprof_address_context_to_string (context), ==, markers[i].text);
    }

  context = SYSPROF_ADDRESS_CONTEXT_KERNEL;
  g_assert_false (sysprof_address_is_context_switch ((SysprofAddress) -4096, &context));
  g_assert_false (sysprof_address_is_context_switch (0x401000, &context));
  g_assert_cmpint (context, ==, SYSPROF_ADDRESS_CONTEXT_KERNEL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/capture/reader/embedded-files", test_embedded_files);
  g_test_add_func ("/capture/reader/reading-goes-on-while-it-is-written",
                   test_reading_goes_on_while_it_is_written);
  g_test_add_func ("/capture/reader/copy-is-at-the-same-place", test_copy_is_at_the_same_place);
  g_test_add_func ("/capture/reader/counts", test_counts);
  g_test_add_func ("/capture/reader/status-counts-what-is-left-out",
                   test_status_counts_what_is_left_out);
  g_test_add_func ("/capture/reader/save-as", test_save_as);
  g_test_add_func ("/capture/cursor/forward-and-backward", test_cursor_forward_and_backward);
  g_test_add_func ("/capture/cursor/several-conditions-are-alternatives",
                   test_several_conditions_are_alternatives);
  g_test_add_func ("/capture/condition/conditions", test_conditions);
  g_test_add_func ("/capture/condition/counters-and-files",
                   test_conditions_on_counters_and_files);
  g_test_add_func ("/capture/address/context-markers", test_context_markers);
  g_test_add_func ("/capture/reader/read-that-fails", test_read_that_fails);

  return g_test_run ();
}
