// SPDX-License-Identifier: GPL-3.0-or-later

/* Data of other programs in a recording: the output of a command, and a capture of their
 * own. */

#include "../recorder.h"

#include <string.h>
#include <zlib.h>

typedef struct
{
  SysprofProfiler *profiler;
  SysprofSpawnable *spawnable;
  Recorded recorded;
  int fd;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->profiler = sysprof_profiler_new ();
  self->spawnable = sysprof_spawnable_new ();
  self->fd = new_memory_file ();
  sysprof_profiler_set_spawnable (self->profiler, self->spawnable);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  recorded_clear (&self->recorded);
  g_object_unref (self->profiler);
  g_object_unref (self->spawnable);
  (void) close (self->fd);
}

static void
run (Fixture *self, const char *program)
{
  sysprof_spawnable_append_args (self->spawnable,
                                 (const char *const[]){ "/bin/sh", "-c", program, NULL });
  record_and_wait (&self->recorded, self->profiler, new_writer_for (self->fd));
  g_assert_no_error (self->recorded.error);
}

static void
add_command (Fixture *self, SysprofRecordingPhase phase, const char *path, const char *script)
{
  SysprofInstrument *instrument = sysprof_subprocess_output_new ();

  g_object_set (instrument, "phase", phase, "stdout-path", path, "command-argv",
                (const char *const[]){ "/bin/sh", "-c", script, NULL }, NULL);
  sysprof_profiler_add_instrument (self->profiler, instrument);
}

/* An embedded file, unpacked where it was packed; NULL when there is none of that name. */
static char *
file_of (Fixture *self, const char *path)
{
  SysprofCaptureReader *reader = new_reader_for (self->fd);
  g_autofree char *packed_path = g_strconcat (path, ".gz", NULL);
  int fd = new_memory_file ();
  char *text = NULL;

  if (sysprof_capture_reader_read_file_fd (reader, path, fd) ||
      sysprof_capture_reader_read_file_fd (reader, packed_path, fd))
    {
      gzFile file;
      int size;

      g_assert_cmpint (lseek (fd, 0, SEEK_SET), ==, 0);
      file = gzdopen (fd, "rb"); /* reads what is not packed as well */
      text = g_malloc0 (1 << 20);
      size = gzread (file, text, (1 << 20) - 1);
      g_assert_cmpint (size, >=, 0);
      gzclose (file);
    }
  else
    (void) close (fd);
  sysprof_capture_reader_unref (reader);
  return text;
}

static void
test_output_in_every_phase (Fixture *self, gconstpointer data)
{
  g_autofree char *before = NULL, *beside = NULL, *after = NULL;
  char directory[] = "/tmp/sysprof-phases-XXXXXX";
  g_autofree char *program = NULL, *prepare = NULL, *record = NULL, *augment = NULL;

  /* `began` is made by the recorded program: only the last command can see it, and the first cannot. The
   * program does not end before the one beside it has begun. */
  g_assert_nonnull (g_mkdtemp (directory));
  prepare = g_strdup_printf ("test -e %s/began && echo late || echo before", directory);
  record = g_strdup_printf ("mkfifo %s/fifo; echo beside; echo >%s/fifo", directory, directory);
  augment = g_strdup_printf ("test -e %s/began && echo after", directory);
  program = g_strdup_printf (
      "touch %s/began; while ! test -p %s/fifo; do :; done; read line <%s/fifo", directory,
      directory, directory);
  add_command (self, SYSPROF_RECORDING_PHASE_PREPARE, "prepare", prepare);
  add_command (self, SYSPROF_RECORDING_PHASE_RECORD, "record", record);
  add_command (self, SYSPROF_RECORDING_PHASE_AUGMENT, "augment", augment);
  run (self, program);

  before = file_of (self, "prepare");
  beside = file_of (self, "record");
  after = file_of (self, "augment");
  g_assert_cmpstr (before, ==, "before\n");
  g_assert_cmpstr (beside, ==, "beside\n");
  g_assert_cmpstr (after, ==, "after\n");

  {
    g_autofree char *clean = g_strdup_printf ("rm -r %s", directory);

    g_assert_true (g_spawn_command_line_sync (clean, NULL, NULL, NULL, NULL));
  }
}

static void
test_long_output (Fixture *self, gconstpointer data)
{
  g_autofree char *output = NULL;
  SysprofCaptureReader *reader;
  SysprofCaptureFrame frame;

  add_command (self, SYSPROF_RECORDING_PHASE_AUGMENT, "numbers", "seq 1 50000");
  run (self, ":");
  output = file_of (self, "numbers");
  g_assert_cmpuint (strlen (output), ==,
                    288894); /* 9 * 2 + 90 * 3 + 900 * 4 + 9000 * 5 + 40001 * 6 */
  g_assert_true (g_str_has_suffix (output, "\n49999\n50000\n"));

  reader = new_reader_for (self->fd);
  while (sysprof_capture_reader_peek_frame (reader, &frame))
    {
      g_assert_cmpint (frame.len, <=, 16384);
      g_assert_true (sysprof_capture_reader_skip (reader));
    }
  sysprof_capture_reader_unref (reader);
}

/* Runs a command that ends like `then`, beside a recording that ends once the command has
 * begun. Returns its output. *(full)* */
static char *
run_endless (Fixture *self, const char *before, const char *then)
{
  g_autofree char *command = NULL, *program = NULL, *clean = NULL;
  char directory[] = "/tmp/sysprof-endless-XXXXXX";

  g_assert_nonnull (g_mkdtemp (directory));
  command = g_strdup_printf ("mkfifo %s/fifo; %s echo >%s/fifo; %s", directory, before,
                             directory, then);
  program = g_strdup_printf ("while ! test -p %s/fifo; do :; done; read line <%s/fifo",
                             directory, directory);
  clean = g_strdup_printf ("rm -r %s", directory);
  add_command (self, SYSPROF_RECORDING_PHASE_RECORD, "beside", command);
  run (self, program);
  g_assert_true (g_spawn_command_line_sync (clean, NULL, NULL, NULL, NULL));
  return file_of (self, "beside");
}

static void
test_command_without_end (Fixture *self, gconstpointer data)
{
  /* Ended with the recording, and what it printed is kept. */
  g_autofree char *output = run_endless (self, "echo begun;", "exec sleep 1000");

  g_assert_cmpstr (output, ==, "begun\n");
}

static void
test_command_that_prints_all_the_time (Fixture *self, gconstpointer data)
{
  /* Something that was not read yet is there when the recording ends. A first line before that, as the command may
   * get no turn again. */
  g_autofree char *output = run_endless (self, "echo line;", "while :; do echo line; done");

  g_assert_true (g_str_has_prefix (output, "line\n"));
}

static void
test_surroundings_of_the_command (Fixture *self, gconstpointer data)
{
  SysprofInstrument *instrument = sysprof_subprocess_output_new ();
  SysprofSubprocessOutput *output = SYSPROF_SUBPROCESS_OUTPUT (instrument);
  g_autofree char *text = NULL;

  g_assert_cmpint (sysprof_subprocess_output_get_phase (output), ==,
                   SYSPROF_RECORDING_PHASE_AUGMENT);
  sysprof_subprocess_output_set_stdout_path (output, "where");
  sysprof_subprocess_output_set_command_cwd (output, "/usr");
  sysprof_subprocess_output_set_command_environ (output, (const char *const[]){ "A=1", NULL });
  sysprof_subprocess_output_set_command_argv (
      output, (const char *const[]){ "/bin/sh", "-c", "pwd -P; echo $A-$HOME-", NULL });
  g_assert_cmpstr (sysprof_subprocess_output_get_stdout_path (output), ==, "where");
  g_assert_cmpstr (sysprof_subprocess_output_get_command_cwd (output), ==, "/usr");
  g_assert_cmpstr (sysprof_subprocess_output_get_command_environ (output)[0], ==, "A=1");
  g_assert_cmpstr (sysprof_subprocess_output_get_command_argv (output)[1], ==, "-c");

  sysprof_profiler_add_instrument (self->profiler, instrument);
  run (self, ":");
  text = file_of (self, "where");
  g_assert_cmpstr (text, ==, "/usr\n1--\n");
}

static void
test_commands_that_fail (Fixture *self, gconstpointer data)
{
  g_autofree char *output = NULL;
  SysprofInstrument *missing = sysprof_subprocess_output_new ();

  g_object_set (missing, "stdout-path", "missing", "command-argv",
                (const char *const[]){ "/nonexistent/command", NULL }, NULL);
  sysprof_profiler_add_instrument (self->profiler, missing);
  sysprof_profiler_add_instrument (self->profiler, sysprof_subprocess_output_new ());
  add_command (self, SYSPROF_RECORDING_PHASE_PREPARE, "failed", "echo some; exit 3");
  run (self, ":");

  g_assert_true (recorded_has_told (&self->recorded, "/nonexistent/command"));
  g_assert_true (recorded_has_told (&self->recorded, "the name of its file is missing"));
  g_assert_true (recorded_has_told (&self->recorded, "failed"));
  output = file_of (self, "failed");
  g_assert_cmpstr (output, ==, "some\n");
}

/* The program writes a capture into the descriptor that it was given: its marks become ours. */
static void
test_capture_of_another_process (Fixture *self, gconstpointer data)
{
  int fd = sysprof_spawnable_add_trace_fd (self->spawnable, NULL);
  int unused = sysprof_spawnable_add_trace_fd (self->spawnable, "GJS_TRACE_FD");
  SysprofCaptureWriter *writer = new_writer_for (fd);
  SysprofCaptureReader *reader;

  g_assert_true (
      sysprof_capture_writer_add_mark (writer, 1000, 0, 4711, 5, "Group", "Name", "text"));
  sysprof_capture_writer_unref (writer);
  sysprof_profiler_add_instrument (self->profiler, sysprof_tracefd_consumer_new (fd));
  sysprof_profiler_add_instrument (self->profiler, sysprof_tracefd_consumer_new (unused));
  run (self, ":");

  reader = new_reader_for (self->fd);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_MARK, 4711), ==, 1);
  sysprof_capture_reader_unref (reader);
  g_assert_false (recorded_has_told (&self->recorded, "traced"));
}

/* One of each type that may be long, and of those at which readers of version 3.46 stop. */
static void
write_long_frames (SysprofCaptureWriter *writer)
{
  g_autofree char *text = g_strnfill (40000, 'x');
  g_autofree char *bytes = g_strnfill (40000, 'y');
  SysprofCaptureAddress addresses[3000] = { 0 };
  SysprofCaptureAddress jit = sysprof_capture_writer_add_jitmap (writer, "named");

  g_assert_true (sysprof_capture_writer_add_trace (writer, 1, -1, 4711, 4711, &jit, 1, true));
  g_assert_true (sysprof_capture_writer_add_dbus_message (writer, 2, -1, 4711, 1, 0,
                                                          (const uint8_t *) bytes, 40000));
  g_assert_true (sysprof_capture_writer_add_dbus_message (writer, 2, -1, 4711, 1, 0,
                                                          (const uint8_t *) "l", 1));
  g_assert_true (
      sysprof_capture_writer_add_mark (writer, 3, -1, 4711, 5, "Group", "Name", text));
  memcpy (text + 16384 - sizeof (SysprofCaptureLog) - 2, "\xc3\xa9", 2); /* would be halved */
  g_assert_true (sysprof_capture_writer_add_log (writer, 4, -1, 4711, 16, "Domain", text));
  g_assert_true (sysprof_capture_writer_add_metadata (writer, 5, -1, 4711, "key", text, -1));
  g_assert_true (sysprof_capture_writer_add_process (writer, 6, -1, 4711, text));
  g_assert_true (sysprof_capture_writer_add_map_with_build_id (writer, 7, -1, 4711, 1, 2, 3, 4,
                                                               text, "0123456789abcdef"));
  text[30000] = '\0';
  g_assert_true (sysprof_capture_writer_add_overlay (writer, 8, -1, 4711, 0, text, text));
  g_assert_true (sysprof_capture_writer_add_file (writer, 9, -1, 4711, "long", true,
                                                  (const uint8_t *) bytes, 40000));
  g_assert_true (sysprof_capture_writer_add_sample (writer, 10, -1, 4711, 4711, addresses,
                                                    G_N_ELEMENTS (addresses)));
}

static void
test_long_and_late_frames_of_another_process (Fixture *self, gconstpointer data)
{
  int fd = sysprof_spawnable_add_trace_fd (self->spawnable, NULL);
  SysprofCaptureWriter *writer = new_writer_for (fd);
  g_autofree char *file = NULL;
  SysprofCaptureReader *reader;
  SysprofCaptureFrame frame;
  guint n_late = 0;

  write_long_frames (writer);
  sysprof_capture_writer_unref (writer);
  sysprof_profiler_add_instrument (self->profiler, sysprof_tracefd_consumer_new (fd));
  add_command (self, SYSPROF_RECORDING_PHASE_AUGMENT, "after", "echo after");
  run (self, ":");

  reader = new_reader_for (self->fd);
  while (sysprof_capture_reader_peek_frame (reader, &frame))
    {
      bool is_late = frame.type == SYSPROF_CAPTURE_FRAME_TRACE ||
                     frame.type == SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE;

      n_late += is_late;
      g_assert_true (is_late || n_late == 0);
      if (frame.type != SYSPROF_CAPTURE_FRAME_SAMPLE)
        g_assert_cmpint (frame.len, <=, 16384);
      else if (frame.pid == 4711)
        g_assert_cmpint (frame.len, ==, 32 + 3000 * 8);

      if (frame.type == SYSPROF_CAPTURE_FRAME_LOG && frame.pid == 4711)
        {
          const SysprofCaptureLog *log = sysprof_capture_reader_read_log (reader);

          g_assert_cmpuint (strlen (log->message), ==, 16384 - sizeof *log - 2);
          g_assert_true (g_str_has_suffix (log->message, "x"));
        }
      else if (frame.type == SYSPROF_CAPTURE_FRAME_MAP && frame.pid == 4711)
        {
          const SysprofCaptureMap *map = sysprof_capture_reader_read_map (reader);
          size_t size = strlen (map->filename) + 1;

          g_assert_cmpuint (size, >, 16000);
          g_assert_cmpstr (map->filename + size, ==, "@0123456789abcdef");
        }
      else
        g_assert_true (sysprof_capture_reader_skip (reader));
    }
  g_assert_cmpuint (n_late, ==, 3);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_MARK, 4711), ==, 1);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_OVERLAY, 4711), ==, 1);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_FILE_CHUNK, 4711), ==, 3);
  sysprof_capture_reader_unref (reader);

  file = file_of (self, "long");
  g_assert_cmpuint (strlen (file), ==, 40000);
  /* A mark, a log, a value, a name, a path, two paths of an overlay, a message. */
  g_assert_true (recorded_has_told (&self->recorded, "7 frames of"));
}

static void
test_file_that_is_no_capture (Fixture *self, gconstpointer data)
{
  int fd = new_memory_file ();

  g_assert_cmpint (write (fd, "nonsense", 8), ==, 8);
  sysprof_profiler_add_instrument (self->profiler, sysprof_tracefd_consumer_new (fd));
  run (self, ":");
  g_assert_true (recorded_has_told (&self->recorded, "it is not a capture"));
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/record/embedded/output-in-every-phase", test_output_in_every_phase },
    { "/record/embedded/long-output", test_long_output },
    { "/record/embedded/command-without-end", test_command_without_end },
    { "/record/embedded/command-that-prints-all-the-time",
      test_command_that_prints_all_the_time },
    { "/record/embedded/surroundings-of-the-command", test_surroundings_of_the_command },
    { "/record/embedded/commands-that-fail", test_commands_that_fail },
    { "/record/embedded/capture-of-another-process", test_capture_of_another_process },
    { "/record/embedded/long-and-late-frames-of-another-process",
      test_long_and_late_frames_of_another_process },
    { "/record/embedded/file-that-is-no-capture", test_file_that_is_no_capture },
  };

  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
