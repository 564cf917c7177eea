// SPDX-License-Identifier: GPL-3.0-or-later

/* Programs that the library starts inherit the control socket.
 *
 * The program is this test itself: with an argument it writes marks. */

#include "../recorder.h"

#include <string.h>

#define N_MARKS 1000

static const char *own_path;

static int
write_marks (void)
{
  for (unsigned i = 0; i < N_MARKS; i++)
    sysprof_collector_mark_printf (SYSPROF_CAPTURE_CURRENT_TIME, 0, "test", "mark", "%u", i);
  return 0;
}

static SysprofSpawnable *
new_spawnable (void)
{
  SysprofSpawnable *spawnable = sysprof_spawnable_new ();

  sysprof_spawnable_append_argv (spawnable, own_path);
  sysprof_spawnable_append_argv (spawnable, "write-marks");
  return spawnable;
}

static unsigned
count_marks (int fd)
{
  SysprofCaptureReader *reader = new_reader_for (fd);
  SysprofCaptureFrameType type;
  unsigned n = 0;

  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      g_autofree char *number = g_strdup_printf ("%u", n);
      const SysprofCaptureMark *mark;

      if (type != SYSPROF_CAPTURE_FRAME_MARK)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }
      mark = sysprof_capture_reader_read_mark (reader);
      g_assert_cmpstr (mark->group, ==, "test");
      g_assert_cmpstr (mark->message, ==, number);
      n++;
    }
  sysprof_capture_reader_unref (reader);
  return n;
}

static void
record (SysprofSpawnable *spawnable, unsigned n_expected)
{
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  Recorded recorded = { 0 };
  int fd = new_memory_file ();

  sysprof_profiler_set_spawnable (profiler, spawnable);
  record_and_wait (&recorded, profiler, new_writer_for (fd));
  g_assert_no_error (recorded.error);
  g_assert_cmpuint (count_marks (fd), ==, n_expected);
  g_clear_object (&recorded.recording);
  close (fd);
}

static void
test_records_marks_of_the_program (void)
{
  g_autoptr (SysprofSpawnable) spawnable = new_spawnable ();

  record (spawnable, N_MARKS);
}

static void
test_records_a_spawnable_again (void)
{
  g_autoptr (SysprofSpawnable) spawnable = new_spawnable ();

  record (spawnable, N_MARKS);
  record (spawnable, N_MARKS);
}

static void
test_needs_the_variable (void)
{
  g_autoptr (SysprofSpawnable) spawnable = new_spawnable ();

  sysprof_spawnable_prepend_argv (spawnable, "SYSPROF_CONTROL_FD=77");
  sysprof_spawnable_prepend_argv (spawnable, "/usr/bin/env");
  record (spawnable, 0);
}

int
main (int argc, char **argv)
{
  if (argc == 2 && strcmp (argv[1], "write-marks") == 0)
    return write_marks ();

  own_path = argv[0];
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/program-rings/records-marks-of-the-program",
                   test_records_marks_of_the_program);
  g_test_add_func ("/record/program-rings/records-a-spawnable-again",
                   test_records_a_spawnable_again);
  g_test_add_func ("/record/program-rings/needs-the-variable", test_needs_the_variable);
  return g_test_run ();
}
