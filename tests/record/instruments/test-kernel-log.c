// SPDX-License-Identifier: GPL-3.0-or-later

/* Records in the kernel's format, copied from real machines except for those that are invalid
 * on purpose; and the log of this machine, if it is writable. */

#include "../recorder.h"

#include "record/instruments/kernel-log.h"
#include "record/logs/log-text.h"

#include <string.h>

static gboolean
parse (const char *record, KernelMessage *message)
{
  return sysprof_kernel_log_parse (sysprof_text_from_string (record), message);
}

static void
test_takes_records (void)
{
  KernelMessage message;

  /* Linux, Documentation/ABI/testing/dev-kmsg */
  g_assert_true (parse (
      "7,160,424069,-;pci_root PNP0A03:00: host bridge window [io  0x0000-0x0cf7] (ignored)\n"
      " SUBSYSTEM=acpi\n DEVICE=+acpi:PNP0A03:00\n",
      &message));
  g_assert_cmpint (message.priority, ==, 7);
  g_assert_cmpuint (message.sequence, ==, 160);
  g_assert_cmpint (message.time, ==, 424069000);
  g_assert_true (sysprof_text_equal (
      message.text, "pci_root PNP0A03:00: host bridge window [io  0x0000-0x0cf7] (ignored)"));

  g_assert_true (
      parse ("6,339,5140900,-,caller=T1;NET: Registered protocol family 10\n", &message));
  g_assert_cmpint (message.priority, ==, 6);
  g_assert_true (parse ("30,340,5690716,-;udevd[80]: starting version 181\n", &message));
  g_assert_cmpint (message.priority, ==, 6); /* of a daemon: 3 * 8 */
}

static void
test_refuses_what_is_none (void)
{
  static const char *const broken[] = {
    "",          ";", "6,339;x", "6,339,-1,-;x", "a,b,c,d;x", "6,339,99999999999999999999,-;x",
    "6,339,1,-",
  };
  KernelMessage message;

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    g_assert_false (parse (broken[i], &message));
}

static void
test_unescapes (void)
{
  char text[] = "a\\x0ab\\x5cx41 \\x4 \\xg0 \\";
  size_t size = sysprof_kernel_log_unescape (text, strlen (text));

  g_assert_cmpmem (text, size, "a\nb\\x41 \\x4 \\xg0 \\", strlen ("a\nb\\x41 \\x4 \\xg0 \\"));
}

/* capture-format: 0, 1 → error; 2 → critical; 3, 4 → warning; 5 → message; 6 → info; 7 → debug; none → 0. */
static void
test_maps_priorities (void)
{
  static const int expected[] = { 4, 4, 8, 16, 16, 32, 64, 128 };

  for (int i = 0; i < 8; i++)
    g_assert_cmpint (sysprof_log_severity_of_priority (i), ==, expected[i]);
  g_assert_cmpint (sysprof_log_severity_of_priority (-1), ==, 0);
  g_assert_cmpint (sysprof_log_severity_of_priority (8), ==, 0);
}

static void
test_cuts_what_is_too_long (void)
{
  g_autofree char *text = g_malloc (100000);
  int fd = new_memory_file ();
  SysprofCaptureWriter *writer = new_writer_for (fd);
  SysprofCaptureReader *reader;
  const SysprofCaptureLog *log;

  memset (text, 'x', 100000);
  g_assert_true (
      sysprof_log_add (writer, 1, 4, "Domain", &(LogMessage){ text, 100000, false }));
  g_assert_true (sysprof_log_add (writer, 1, -1, "Domain", &(LogMessage){ "a\0b", 3, false }));
  g_assert_true (sysprof_capture_writer_flush (writer));
  sysprof_capture_writer_unref (writer);

  reader = new_reader_for (fd);
  log = sysprof_capture_reader_read_log (reader);
  g_assert_cmpint (log->frame.len, <=, 16384);
  g_assert_true (g_str_has_suffix (log->message, "xx [truncated: 100000 bytes in all]"));
  log = sysprof_capture_reader_read_log (reader);
  g_assert_cmpstr (log->message, ==, "a b");
  g_assert_cmpint (log->severity, ==, 0);
  sysprof_capture_reader_unref (reader);
  (void) close (fd);
}

static void
say_to_kernel (SysprofRecording *recording, gpointer data)
{
  int *kernel = data;

  /* Without its newline a message is kept back until the next one comes. */
  g_assert_cmpint (write (*kernel, "<3>sysprof test says hello\n", 27), ==, 27);
  sysprof_recording_stop_async (recording, NULL, NULL, NULL);
}

static void
test_records_this_kernel (void)
{
  int kernel = open ("/dev/kmsg", O_RDWR | O_CLOEXEC);
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  Recorded recorded = { .began = say_to_kernel, .data = &kernel };
  SysprofCaptureReader *reader;
  SysprofCaptureFrame frame;
  gboolean found = FALSE;
  int fd;

  if (kernel < 0)
    {
      g_test_skip ("/dev/kmsg may not be written here");
      return;
    }

  fd = new_memory_file ();
  sysprof_profiler_add_instrument (profiler, sysprof_kernel_log_new ());
  record_and_wait (&recorded, profiler, new_writer_for (fd));
  g_assert_no_error (recorded.error);

  reader = new_reader_for (fd);
  while (sysprof_capture_reader_peek_frame (reader, &frame))
    {
      const SysprofCaptureLog *log;

      if (frame.type != SYSPROF_CAPTURE_FRAME_LOG)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }
      log = sysprof_capture_reader_read_log (reader);
      if (strcmp (log->message, "sysprof test says hello") != 0)
        continue;
      found = TRUE;
      g_assert_cmpint (log->severity, ==, 16);
      g_assert_cmpstr (log->domain, ==, "Kernel Log");
      g_assert_cmpint (frame.time, >=, sysprof_capture_reader_get_start_time (reader));
      g_assert_cmpint (frame.time, <=, sysprof_capture_reader_get_end_time (reader));
    }
  g_assert_true (found);

  sysprof_capture_reader_unref (reader);
  recorded_clear (&recorded);
  (void) close (fd);
  (void) close (kernel);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/kernel-log/takes-records", test_takes_records);
  g_test_add_func ("/record/kernel-log/refuses-what-is-none", test_refuses_what_is_none);
  g_test_add_func ("/record/kernel-log/unescapes", test_unescapes);
  g_test_add_func ("/record/kernel-log/maps-priorities", test_maps_priorities);
  g_test_add_func ("/record/kernel-log/cuts-what-is-too-long", test_cuts_what_is_too_long);
  g_test_add_func ("/record/kernel-log/records-this-kernel", test_records_this_kernel);
  return g_test_run ();
}
