// SPDX-License-Identifier: GPL-3.0-or-later

/* The live window has the last seconds of a running recording: tests check its contents and
 * what it discards. */

#include "live/live.h"

#include <fcntl.h>
#include <sysprof-capture.h>
#include <unistd.h>

#define SECOND INT64_C (1000000000)

typedef struct
{
  SysprofCaptureWriter *writer; /* what is recorded */
  int fd;
  LiveWindow *window; /* of 5 s */
} Fixture;

static int
open_temporary (void)
{
  int fd = open (g_get_tmp_dir (), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  g_assert_cmpint (fd, >=, 0);
  return fd;
}

/* All numbers below 100 are. */
static bool
is_process (int32_t pid)
{
  return pid < 100;
}

static void
set_up (Fixture *self, gconstpointer data)
{
  self->fd = open_temporary ();
  self->writer = sysprof_capture_writer_new_from_fd (dup (self->fd), 0);
  g_assert_nonnull (self->writer);
  self->window = sysprof_live_window_new (5 * SECOND, is_process);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sysprof_capture_writer_unref (self->writer);
  sysprof_live_window_free (self->window);
  (void) close (self->fd);
}

static void
sample (Fixture *self, int64_t time, int pid)
{
  const SysprofCaptureAddress address = 0x1000;

  g_assert_true (
      sysprof_capture_writer_add_sample (self->writer, time, 0, pid, pid, &address, 1));
}

static void
map (Fixture *self, int64_t time, int pid, const char *path)
{
  g_assert_true (
      sysprof_capture_writer_add_map (self->writer, time, 0, pid, 0x1000, 0x2000, 0, 1, path));
}

static int
compare_texts (const void *a, const void *b)
{
  return g_strcmp0 (*(char *const *) a, *(char *const *) b);
}

/* The contents of the window, sorted: "sample 7", "map 7 /path", … */
static char **
look (Fixture *self, int64_t now, GBytes *symbols)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *found = g_ptr_array_new ();
  SysprofCaptureReader *reader;
  SysprofCaptureFrame frame;
  int fd;

  g_assert_true (sysprof_capture_writer_flush (self->writer));
  g_assert_true (sysprof_live_window_read (self->window, self->fd, &error));
  g_assert_no_error (error);
  fd = sysprof_live_window_make_capture (self->window, now, symbols, NULL, &error);
  g_assert_no_error (error);
  reader = sysprof_capture_reader_new_from_fd (fd);
  g_assert_nonnull (reader);
  g_assert_cmpint (sysprof_capture_reader_get_end_time (reader), ==, now);

  while (sysprof_capture_reader_peek_frame (reader, &frame))
    switch (frame.type)
      {
      case SYSPROF_CAPTURE_FRAME_SAMPLE:
        g_assert_cmpint (frame.time, >=, sysprof_capture_reader_get_start_time (reader));
        g_assert_nonnull (sysprof_capture_reader_read_sample (reader));
        g_ptr_array_add (found, g_strdup_printf ("sample %d", frame.pid));
        break;
      case SYSPROF_CAPTURE_FRAME_MAP:
        g_ptr_array_add (found,
                         g_strdup_printf ("map %d %s", frame.pid,
                                          sysprof_capture_reader_read_map (reader)->filename));
        break;
      case SYSPROF_CAPTURE_FRAME_FILE_CHUNK:
        {
          const SysprofCaptureFileChunk *chunk = sysprof_capture_reader_read_file (reader);

          g_ptr_array_add (found, g_strdup_printf ("file %s %d%s", chunk->path, chunk->len,
                                                   chunk->is_last ? " last" : ""));
        }
        break;
      default:
        g_assert_true (sysprof_capture_reader_skip (reader));
      }
  sysprof_capture_reader_unref (reader);
  g_ptr_array_sort (found, compare_texts);
  g_ptr_array_add (found, NULL);
  return (char **) g_ptr_array_free (found, FALSE);
}

static void
assert_found (Fixture *self, int64_t now, const char *expected)
{
  g_auto (GStrv) found = look (self, now, NULL);
  g_autofree char *text = g_strjoinv (", ", found);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_events_pass (Fixture *self, gconstpointer data)
{
  map (self, 1 * SECOND, 7, "/a");
  sample (self, 10 * SECOND, 7);
  assert_found (self, 11 * SECOND, "map 7 /a, sample 7");
  sample (self, 14 * SECOND, 8);
  assert_found (self, 15 * SECOND, "map 7 /a, sample 7, sample 8");
  /* The mapping is older than any window, and still true. */
  assert_found (self, 16 * SECOND, "map 7 /a, sample 8");
  assert_found (self, 30 * SECOND, "map 7 /a");
}

static void
test_processes_end (Fixture *self, gconstpointer data)
{
  map (self, 1 * SECOND, 7, "/a");
  map (self, 1 * SECOND, 8, "/b");
  sample (self, 10 * SECOND, 7);
  g_assert_true (sysprof_capture_writer_add_exit (self->writer, 10 * SECOND, 0, 7));
  assert_found (self, 11 * SECOND, "map 7 /a, map 8 /b, sample 7");
  assert_found (self, 16 * SECOND, "map 8 /b");
}

/* A program starts threads. They are reported like processes, without events for their ends. */
static void
test_threads_are_forgotten (Fixture *self, gconstpointer data)
{
  map (self, 1 * SECOND, 7, "/a");
  g_assert_true (sysprof_capture_writer_add_fork (self->writer, 2 * SECOND, 0, 7, 100));
  g_assert_true (sysprof_capture_writer_add_exit (self->writer, 3 * SECOND, 0, 7));
  assert_found (self, 40 * SECOND, "");
}

/* Rings of CPUs are read one after the other: the end may come before the begin. */
static void
test_any_order (Fixture *self, gconstpointer data)
{
  g_assert_true (sysprof_capture_writer_add_exit (self->writer, 3 * SECOND, 0, 7));
  g_assert_true (sysprof_capture_writer_add_fork (self->writer, 2 * SECOND, 0, 1, 7));
  map (self, 2 * SECOND, 7, "/a");
  assert_found (self, 20 * SECOND, "");
}

/* A shell forks, and ends before its child, which never executes anything. */
static void
test_children_keep_mappings (Fixture *self, gconstpointer data)
{
  map (self, 1 * SECOND, 7, "/a");
  g_assert_true (sysprof_capture_writer_add_fork (self->writer, 2 * SECOND, 0, 7, 8));
  g_assert_true (sysprof_capture_writer_add_fork (self->writer, 2 * SECOND, 0, 8, 9));
  g_assert_true (sysprof_capture_writer_add_exit (self->writer, 3 * SECOND, 0, 7));
  assert_found (self, 20 * SECOND, "map 8 /a");
  g_assert_true (sysprof_capture_writer_add_exit (self->writer, 21 * SECOND, 0, 8));
  sample (self, 30 * SECOND, 9);
  assert_found (self, 31 * SECOND, "map 9 /a, sample 9");
}

static void
test_numbers_are_used_again (Fixture *self, gconstpointer data)
{
  map (self, 1 * SECOND, 7, "/a");
  g_assert_true (sysprof_capture_writer_add_exit (self->writer, 2 * SECOND, 0, 7));
  g_assert_true (sysprof_capture_writer_add_fork (self->writer, 3 * SECOND, 0, 1, 7));
  map (self, 3 * SECOND, 7, "/b");
  sample (self, 20 * SECOND, 7);
  assert_found (self, 21 * SECOND, "map 7 /a, map 7 /b, sample 7");
}

static void
test_names (Fixture *self, gconstpointer data)
{
  g_autoptr (GBytes) symbols = g_bytes_new_take (g_malloc0 (20000), 20000);
  g_auto (GStrv) found = NULL;
  g_autofree char *text = NULL;

  sample (self, 10 * SECOND, 7);
  found = look (self, 11 * SECOND, symbols);
  text = g_strjoinv (", ", found);
  g_assert_cmpstr (text, ==, "file __symbols__ 16100, file __symbols__ 3900 last, sample 7");
}

/* The recorder is in the middle of a frame: of its head, or behind it. */
static void
test_half_a_frame (Fixture *self, gconstpointer data)
{
  off_t part = GPOINTER_TO_INT (data);
  off_t whole;

  sample (self, 10 * SECOND, 7);
  g_assert_true (sysprof_capture_writer_flush (self->writer));
  whole = lseek (self->fd, 0, SEEK_END);
  sample (self, 10 * SECOND, 8);
  g_assert_true (sysprof_capture_writer_flush (self->writer));
  g_assert_cmpint (ftruncate (self->fd, whole + part), ==, 0);
  assert_found (self, 11 * SECOND, "sample 7");
  g_assert_cmpint (sysprof_live_window_get_offset (self->window), ==, whole);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add (name, Fixture, NULL, set_up, func, tear_down)
  ADD ("/live-window/events-pass", test_events_pass);
  ADD ("/live-window/processes-end", test_processes_end);
  ADD ("/live-window/children-keep-mappings", test_children_keep_mappings);
  ADD ("/live-window/numbers-are-used-again", test_numbers_are_used_again);
  ADD ("/live-window/threads-are-forgotten", test_threads_are_forgotten);
  ADD ("/live-window/any-order", test_any_order);
  ADD ("/live-window/names", test_names);
#undef ADD
  g_test_add ("/live-window/half-a-head", Fixture, GINT_TO_POINTER (20), set_up,
              test_half_a_frame, tear_down);
  g_test_add ("/live-window/half-a-frame", Fixture, GINT_TO_POINTER (32), set_up,
              test_half_a_frame, tear_down);
  return g_test_run ();
}
