// SPDX-License-Identifier: GPL-3.0-or-later

/* Features that a machine does not have: if the user requested them, a message names them.
 * Otherwise only the capture contains the reason. */

#include "recorder.h"

extern const InstrumentRow sysprof_gpu_usage_row, sysprof_pressure_row;

/* Returns the metadata of the capture with that key, or NULL. *(full)* */
static char *
find_metadata (int fd, const char *key)
{
  SysprofCaptureReader *reader = new_reader_for (fd);
  SysprofCaptureFrameType type;
  char *found = NULL;

  while (found == NULL && sysprof_capture_reader_peek_type (reader, &type))
    {
      const SysprofCaptureMetadata *metadata;

      if (type != SYSPROF_CAPTURE_FRAME_METADATA)
        {
          g_assert_true (sysprof_capture_reader_skip (reader));
          continue;
        }
      metadata = sysprof_capture_reader_read_metadata (reader);
      g_assert_nonnull (metadata);
      if (g_str_equal (metadata->id, key))
        found = g_strdup (metadata->metadata);
    }
  sysprof_capture_reader_unref (reader);
  return found;
}

/* Of a machine that has nothing but /proc/stat: CPUs, GPUs, and pressure of the system and of cgroups. */
static int
record_small_machine (Recorded *recorded, gboolean is_optional)
{
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  g_autofree char *root = g_dir_make_tmp ("sysprof-machine-XXXXXX", NULL);
  g_autofree char *proc = g_build_filename (root, "proc", NULL);
  g_autofree char *stat = g_build_filename (proc, "stat", NULL);
  SysprofInstrument *instruments[] = { sysprof_cpu_usage_new (), sysprof_gpu_usage_row.new(),
                                       sysprof_pressure_row.new() };
  int fd = new_memory_file ();

  g_assert_nonnull (root);
  g_assert_cmpint (mkdir (proc, 0700), ==, 0);
  g_assert_true (g_file_set_contents (stat, "cpu  1 2 3 4 5\n", -1, NULL));
  for (size_t i = 0; i < G_N_ELEMENTS (instruments); i++)
    {
      sysprof_instrument_set_optional (instruments[i], is_optional);
      sysprof_profiler_add_instrument (profiler, instruments[i]);
    }
  sysprof_profiler_set_machine (profiler, root);
  sysprof_profiler_set_max_duration (profiler, 1000000);
  record_and_wait (recorded, profiler, new_writer_for (fd));
  g_assert_no_error (recorded->error);
  g_assert_cmpint (unlink (stat), ==, 0);
  g_assert_cmpint (rmdir (proc), ==, 0);
  g_assert_cmpint (rmdir (root), ==, 0);
  return fd;
}

static void
test_asked_for (void)
{
  Recorded recorded = { 0 };
  int fd = record_small_machine (&recorded, FALSE);
  g_autofree char *note = find_metadata (fd, "org.gnome.sysprof.lacks.GPU Usage");

  g_assert_true (recorded_has_told (&recorded, "Cannot record CPU frequencies"));
  g_assert_true (recorded_has_told (&recorded, "Cannot record GPU usage"));
  g_assert_true (recorded_has_told (&recorded, "Cannot record pressure"));
  g_assert_true (recorded_has_told (&recorded, "Cannot record the pressure of cgroups"));
  g_assert_null (note);
  recorded_clear (&recorded);
  (void) close (fd);
}

static void
test_optional (void)
{
  Recorded recorded = { 0 };
  int fd = record_small_machine (&recorded, TRUE);
  g_autofree char *frequency = find_metadata (fd, "org.gnome.sysprof.lacks.CPU Frequency");
  g_autofree char *gpu = find_metadata (fd, "org.gnome.sysprof.lacks.GPU Usage");
  g_autofree char *pressure = find_metadata (fd, "org.gnome.sysprof.lacks.Pressure");
  g_autofree char *groups = find_metadata (fd, "org.gnome.sysprof.lacks.Cgroup Pressure");

  g_assert_false (recorded_has_told (&recorded, "Cannot record"));
  g_assert_nonnull (frequency);
  g_assert_nonnull (strstr (frequency, "cpuinfo_max_freq"));
  g_assert_nonnull (gpu);
  g_assert_nonnull (strstr (gpu, "/sys/class/drm"));
  g_assert_nonnull (pressure);
  g_assert_nonnull (groups);
  recorded_clear (&recorded);
  (void) close (fd);
}

/* Of a command that is on no machine, and of one that fails. */
static int
record_commands (Recorded *recorded, gboolean is_optional)
{
  static const char *const missing[] = { "no-such-tool", NULL };
  static const char *const failing[] = { "false", NULL };
  static const char *const *const commands[] = { missing, failing };
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  int fd = new_memory_file ();

  for (size_t i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      SysprofInstrument *instrument = sysprof_subprocess_output_new ();

      sysprof_subprocess_output_set_command_argv (SYSPROF_SUBPROCESS_OUTPUT (instrument),
                                                  commands[i]);
      sysprof_subprocess_output_set_stdout_path (SYSPROF_SUBPROCESS_OUTPUT (instrument),
                                                 commands[i][0]);
      sysprof_instrument_set_optional (instrument, is_optional);
      sysprof_profiler_add_instrument (profiler, instrument);
    }
  sysprof_profiler_set_max_duration (profiler, 1000000);
  record_and_wait (recorded, profiler, new_writer_for (fd));
  g_assert_no_error (recorded->error);
  return fd;
}

static void
test_command_asked_for (void)
{
  Recorded recorded = { 0 };
  int fd = record_commands (&recorded, FALSE);

  g_assert_true (recorded_has_told (&recorded, "there is no such program"));
  g_assert_true (recorded_has_told (&recorded, "'false' failed"));
  recorded_clear (&recorded);
  (void) close (fd);
}

static void
test_command_by_default (void)
{
  Recorded recorded = { 0 };
  int fd = record_commands (&recorded, TRUE);
  g_autofree char *missing = find_metadata (fd, "org.gnome.sysprof.lacks.no-such-tool");
  g_autofree char *failing = find_metadata (fd, "org.gnome.sysprof.lacks.false");

  g_assert_false (recorded_has_told (&recorded, ""));
  g_assert_nonnull (missing);
  g_assert_nonnull (strstr (missing, "there is no such program"));
  g_assert_nonnull (failing);
  recorded_clear (&recorded);
  (void) close (fd);
}

static void
wait_canceled (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (sysprof_recording_wait_finish (SYSPROF_RECORDING (object), result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  *(gboolean *) data = TRUE;
  sysprof_recording_stop_async (SYSPROF_RECORDING (object), NULL, NULL, NULL);
}

static void
wait_and_cancel (SysprofRecording *recording, gpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  sysprof_recording_wait_async (recording, cancellable, wait_canceled, data);
  g_cancellable_cancel (cancellable);
}

/* The recording goes on meanwhile: another one that waits sees its regular end. */
static void
test_canceled_wait_ends_at_once (void)
{
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  gboolean is_canceled = FALSE;
  Recorded recorded = { .started = wait_and_cancel, .data = &is_canceled };
  int fd = new_memory_file ();

  sysprof_profiler_add_instrument (profiler, sysprof_memory_usage_new ());
  record_and_wait (&recorded, profiler, new_writer_for (fd));
  g_assert_no_error (recorded.error);
  g_assert_true (is_canceled);
  recorded_clear (&recorded);
  (void) close (fd);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/optional/counters-asked-for", test_asked_for);
  g_test_add_func ("/record/optional/counters-by-default", test_optional);
  g_test_add_func ("/record/recording/canceled-wait", test_canceled_wait_ends_at_once);
  g_test_add_func ("/record/optional/command-asked-for", test_command_asked_for);
  g_test_add_func ("/record/optional/command-by-default", test_command_by_default);
  return g_test_run ();
}
