// SPDX-License-Identifier: GPL-3.0-or-later

/* The life of a recording, with an instrument of our own that notes what is called on which thread, and outputs that go
 * wrong. Needs no rights. */

#include "recorder.h"

#include <pthread.h>
#include <string.h>

/* --- an instrument that takes notes --- */

typedef struct _NotingInstrument NotingInstrument;

struct _NotingInstrument
{
  SysprofInstrument parent_instance;
  GString *notes;
  pthread_t thread;
  guint n_ticks;
  guint n_work;
  guint stop_after_ticks; /* 0 = never */
  gsize frame_size;       /* bytes of logs per tick; 0 = none */
  gboolean fails;
  int pipe_fds[2];
};

GType noting_instrument_get_type (void);
SYSPROF_DEFINE_INSTRUMENT (NotingInstrument, noting_instrument)

#define NOTING(instance) ((NotingInstrument *) (instance))

static void
noting_tick (RecordingContext *context, int64_t now, void *data)
{
  NotingInstrument *self = data;

  g_assert_true (pthread_equal (self->thread, pthread_self ()));
  g_assert_cmpint (now, >=, context->begin);
  self->n_ticks++;

  for (gsize size = 0; size < self->frame_size; size += 4096)
    {
      g_autofree char *text = g_strnfill (4000, 'x');

      if (!sysprof_capture_writer_add_log (context->writer, now, -1, -1, 16, "Test", text))
        sysprof_context_add_lost (context, LOST_OTHERS, 1);
    }

  if (self->stop_after_ticks > 0 && self->n_ticks >= self->stop_after_ticks)
    sysprof_pump_request_stop (context->pump);
}

static bool
noting_work (RecordingContext *context, int64_t deadline, void *data)
{
  return ++NOTING (data)->n_work < 3;
}

static void
noting_ready (RecordingContext *context, int fd, void *data)
{
  char byte;

  g_assert_cmpint (read (fd, &byte, 1), ==, 1);
  g_string_append (NOTING (data)->notes, "ready ");
  sysprof_pump_unwatch_fd (context->pump, fd);
}

static gboolean
noting_prepare (SysprofInstrument *instrument, RecordingContext *context, GError **error)
{
  NotingInstrument *self = NOTING (instrument);

  self->thread = pthread_self ();
  g_string_append (self->notes, "prepare ");
  if (self->fails)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                           "Cannot note: there is no pencil.");
      return FALSE;
    }

  g_assert_cmpint (pipe (self->pipe_fds), ==, 0);
  sysprof_pump_watch_fd (context->pump, self->pipe_fds[0], noting_ready, self);
  sysprof_pump_add_tick (context->pump, 5000000, noting_tick, self);
  sysprof_pump_add_work (context->pump, noting_work, self);
  return TRUE;
}

static void
noting_record (SysprofInstrument *instrument, RecordingContext *context)
{
  NotingInstrument *self = NOTING (instrument);

  g_assert_true (pthread_equal (self->thread, pthread_self ()));
  g_assert_cmpint (context->begin, >, 0);
  g_string_append (self->notes, "record ");
  g_assert_cmpint (write (self->pipe_fds[1], "x", 1), ==, 1);
}

static void
noting_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  g_string_append (NOTING (instrument)->notes, "stop ");
  (void) close (NOTING (instrument)->pipe_fds[0]);
  (void) close (NOTING (instrument)->pipe_fds[1]);
}

/* What was recorded can be read back now. */
static gboolean
noting_augment (SysprofInstrument *instrument, RecordingContext *context, GError **error)
{
  NotingInstrument *self = NOTING (instrument);
  int fd = sysprof_context_dup_fd (context, error);
  SysprofCaptureReader *reader;

  g_string_append (self->notes, "augment ");
  if (fd < 0)
    return FALSE;

  reader = sysprof_capture_reader_new_from_fd (fd);
  g_assert_nonnull (reader);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_METADATA, 0), >, 0);
  sysprof_capture_reader_unref (reader);
  return sysprof_context_add_file (context, context->begin, -1, "notes", "whole", 5, false);
}

static void
noting_finalize (GObject *object)
{
  g_string_free (NOTING (object)->notes, TRUE);
  G_OBJECT_CLASS (noting_instrument_parent_class)->finalize (object);
}

static void
noting_instrument_class_init (NotingInstrumentClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = noting_finalize;
  klass->parent_class.name = "Notes";
  klass->parent_class.reads_recording = true;
  klass->parent_class.bundles_kernel_symbols =
      true; /* so that nobody packs them, for seconds in all */
  klass->parent_class.prepare = noting_prepare;
  klass->parent_class.record = noting_record;
  klass->parent_class.stop = noting_stop;
  klass->parent_class.augment = noting_augment;
}

static void
noting_instrument_init (NotingInstrument *self)
{
  self->notes = g_string_new (NULL);
}

/* --- recordings --- */

typedef struct
{
  SysprofProfiler *profiler;
  NotingInstrument *notes; /* the profiler's, and ours */
  Recorded recorded;
  int fd;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->profiler = sysprof_profiler_new ();
  self->notes = g_object_new (noting_instrument_get_type (), NULL);
  self->fd = new_memory_file ();
  sysprof_profiler_add_instrument (self->profiler,
                                   SYSPROF_INSTRUMENT (g_object_ref (self->notes)));
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  recorded_clear (&self->recorded);
  g_assert_finalize_object (self->profiler);
  g_object_unref (self->notes);
  (void) close (self->fd);
}

static void
run (Fixture *self)
{
  record_and_wait (&self->recorded, self->profiler, new_writer_for (self->fd));
}

static void
test_phases_in_order_on_one_thread (Fixture *self, gconstpointer data)
{
  SysprofCaptureReader *reader;

  self->notes->stop_after_ticks = 3;
  run (self);

  g_assert_no_error (self->recorded.error);
  g_assert_cmpstr (self->notes->notes->str, ==, "prepare record ready stop augment ");
  g_assert_cmpuint (self->notes->n_ticks, ==, 3);
  g_assert_cmpuint (self->notes->n_work, ==, 3);
  g_assert_false (pthread_equal (self->notes->thread, pthread_self ()));

  reader = new_reader_for (self->fd);
  g_assert_nonnull (sysprof_capture_reader_find_file (reader, "notes"));
  g_assert_cmpint (sysprof_capture_reader_get_end_time (reader), >=,
                   sysprof_capture_reader_get_start_time (reader) + 2 * 5000000);
  sysprof_capture_reader_unref (reader);
}

/* The others go on, and the person is told. */
static void
test_instrument_that_fails_is_left_out (Fixture *self, gconstpointer data)
{
  NotingInstrument *other = g_object_new (noting_instrument_get_type (), NULL);

  sysprof_profiler_add_instrument (self->profiler, SYSPROF_INSTRUMENT (g_object_ref (other)));
  self->notes->fails = TRUE;
  other->stop_after_ticks = 1;
  run (self);

  g_assert_no_error (self->recorded.error);
  g_assert_cmpstr (self->notes->notes->str, ==, "prepare ");
  g_assert_cmpstr (other->notes->str, ==, "prepare record ready stop augment ");
  g_assert_true (recorded_has_told (&self->recorded, "there is no pencil"));
  g_object_unref (other);
}

static void
test_ends_after_its_duration (Fixture *self, gconstpointer data)
{
  RecordingStatus status;

  sysprof_profiler_set_max_duration (self->profiler, 30000000);
  run (self);

  g_assert_no_error (self->recorded.error);
  sysprof_recording_get_status (self->recorded.recording, &status);
  g_assert_cmpint (status.duration, >=, 30000000);
  g_assert_cmpint (sysprof_recording_get_duration (self->recorded.recording), ==,
                   status.duration / 1000);
  g_assert_cmpuint (status.n_frames, ==,
                    sysprof_recording_get_event_count (self->recorded.recording));
}

static void
test_ends_at_its_size (Fixture *self, gconstpointer data)
{
  RecordingStatus status;

  self->notes->frame_size = 64 * 1024;
  sysprof_profiler_set_max_size (self->profiler, 1000000);
  run (self);

  g_assert_no_error (self->recorded.error);
  sysprof_recording_get_status (self->recorded.recording, &status);
  g_assert_cmpuint (status.size, >=, 1000000);
  g_assert_cmpuint (status.n_lost, ==, 0);
}

static void
stop_now (SysprofRecording *recording, gpointer data)
{
  sysprof_recording_stop_async (recording, NULL, NULL, NULL);
}

static void
test_ends_when_asked (Fixture *self, gconstpointer data)
{
  self->recorded.started = stop_now;
  run (self);
  g_assert_no_error (self->recorded.error);
}

static void
skip_augment (SysprofRecording *recording, gpointer data)
{
  sysprof_recording_skip_augment (recording);
}

static void
test_skips_what_is_to_be_added (Fixture *self, gconstpointer data)
{
  self->recorded.started = skip_augment;
  self->notes->stop_after_ticks = 1;
  run (self);

  g_assert_no_error (self->recorded.error);
  g_assert_cmpstr (self->notes->notes->str, ==, "prepare record ready stop ");
}

/* --- outputs that go wrong: what was written before stays readable --- */

static void
test_output_that_cannot_grow (Fixture *self, gconstpointer data)
{
  SysprofCaptureWriter *writer = new_writer_for (self->fd);
  SysprofCaptureReader *reader;

  self->notes->frame_size = 64 * 1024;
  g_assert_cmpint (ftruncate (self->fd, 1000000), ==, 0);
  g_assert_cmpint (fcntl (self->fd, F_ADD_SEALS, F_SEAL_GROW), ==, 0);
  record_and_wait (&self->recorded, self->profiler, writer);

  g_assert_nonnull (self->recorded.error);
  g_assert_nonnull (strstr (self->recorded.error->message, "Cannot write"));
  g_assert_cmpstr (self->notes->notes->str, ==, "prepare record ready stop ");

  reader = new_reader_for (self->fd);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_LOG, -1), >, 10);
  sysprof_capture_reader_unref (reader);
}

static void
test_pipe_that_is_closed (Fixture *self, gconstpointer data)
{
  int fds[2];

  g_assert_cmpint (pipe2 (fds, O_CLOEXEC), ==, 0);
  self->notes->frame_size = 64 * 1024;
  {
    SysprofCaptureWriter *writer = new_writer_for (fds[1]);

    (void) close (fds[0]);
    (void) close (fds[1]);
    record_and_wait (&self->recorded, self->profiler, writer);
  }

  g_assert_nonnull (self->recorded.error);
  g_assert_nonnull (strstr (self->recorded.error->message, "closed"));
}

static gpointer
read_all (gpointer data)
{
  GByteArray *bytes = g_byte_array_new ();
  guint8 part[65536];
  gssize n;

  while ((n = read (GPOINTER_TO_INT (data), part, sizeof part)) > 0)
    g_byte_array_append (bytes, part, (guint) n);
  return bytes;
}

typedef struct
{
  int fd;
  GThread *reader;
} StalledPipe;

static gboolean
check_stalled (gpointer data)
{
  Recorded *recorded = data;
  StalledPipe *stalled = recorded->data;
  RecordingStatus status;

  if (recorded->recording == NULL) /* not yet begun */
    return G_SOURCE_CONTINUE;
  sysprof_recording_get_status (recorded->recording, &status);
  if (status.n_lost == 0)
    return G_SOURCE_CONTINUE;

  stalled->reader = g_thread_new ("reader", read_all, GINT_TO_POINTER (stalled->fd));
  sysprof_recording_stop_async (recorded->recording, NULL, NULL, NULL);
  return G_SOURCE_REMOVE;
}

/* Nobody reads: the recording neither waits nor grows without bound; it counts. */
static void
test_pipe_that_stalls (Fixture *self, gconstpointer data)
{
  StalledPipe stalled = { 0 };
  SysprofCaptureReader *reader;
  GByteArray *bytes;
  RecordingStatus status;
  int fds[2];

  g_assert_cmpint (pipe2 (fds, O_CLOEXEC), ==, 0);
  stalled.fd = fds[0];
  self->notes->frame_size = 4 * 1024 * 1024;
  self->recorded.data = &stalled;
  g_timeout_add (5, check_stalled, &self->recorded);
  {
    SysprofCaptureWriter *writer = new_writer_for (fds[1]);

    (void) close (fds[1]);
    sysprof_profiler_record_async (self->profiler, writer, NULL, recording_began,
                                   &self->recorded);
    sysprof_capture_writer_unref (writer);
  }
  while (!self->recorded.ended)
    g_main_context_iteration (NULL, TRUE);

  g_assert_no_error (self->recorded.error);
  sysprof_recording_get_status (self->recorded.recording, &status);
  g_assert_cmpuint (status.n_lost, >, 0);
  g_clear_object (&self->recorded.recording); /* closes the pipe */
  bytes = g_thread_join (stalled.reader);
  (void) close (fds[0]);

  /* What came through the pipe is whole, and says how much is missing. */
  g_assert_cmpint (write (self->fd, bytes->data, bytes->len), ==, bytes->len);
  reader = new_reader_for (self->fd);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_LOG, -1), >, 1000);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_CTRSET, -1), >, 0);
  g_assert_nonnull (sysprof_capture_reader_find_file (reader, "notes"));
  sysprof_capture_reader_unref (reader);
  g_byte_array_unref (bytes);
}

/* --- while it runs --- */

static gboolean
read_while_recording (gpointer data)
{
  Recorded *recorded = data;
  SysprofCaptureReader *reader;
  int fd;

  if (recorded->recording == NULL ||
      sysprof_recording_get_event_count (recorded->recording) == 0)
    return G_SOURCE_CONTINUE;

  reader = sysprof_recording_create_reader (recorded->recording);
  g_assert_nonnull (reader);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_LOG, -1), >, 0);
  sysprof_capture_reader_unref (reader);

  fd = sysprof_recording_dup_fd (recorded->recording);
  g_assert_cmpint (fd, >=, 0);
  (void) close (fd);
  sysprof_recording_stop_async (recorded->recording, NULL, NULL, NULL);
  return G_SOURCE_REMOVE;
}

static void
count_notify (GObject *object, GParamSpec *pspec, gpointer data)
{
  (*(guint *) data)++;
}

static void
watch_duration (SysprofRecording *recording, gpointer data)
{
  g_signal_connect (recording, "notify::duration", G_CALLBACK (count_notify), data);
}

static void
test_can_be_read_while_it_runs (Fixture *self, gconstpointer data)
{
  guint n_notified = 0;

  self->notes->frame_size = 8192;
  self->recorded.started = watch_duration;
  self->recorded.data = &n_notified;
  g_timeout_add (5, read_while_recording, &self->recorded);
  run (self);

  g_assert_no_error (self->recorded.error);
  g_assert_cmpuint (n_notified, >, 0);
  {
    SysprofCaptureReader *reader = sysprof_recording_create_reader (self->recorded.recording);

    g_assert_nonnull (reader);
    g_assert_nonnull (sysprof_capture_reader_find_file (reader, "notes"));
    sysprof_capture_reader_unref (reader);
  }
}

static void
add_program (Fixture *self, const char *first, const char *second)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();

  sysprof_spawnable_append_argv (spawnable, first);
  if (second != NULL)
    sysprof_spawnable_append_argv (spawnable, second);
  sysprof_profiler_set_spawnable (self->profiler, spawnable);
}

static void
test_ends_with_its_program (Fixture *self, gconstpointer data)
{
  add_program (self, "sleep", "0.02");
  run (self);

  g_assert_no_error (self->recorded.error);
  g_assert_nonnull (sysprof_recording_get_subprocess (self->recorded.recording));
}

static void
test_program_that_is_not_there (Fixture *self, gconstpointer data)
{
  add_program (self, "/nonexistent/program", NULL);
  run (self);

  g_assert_nonnull (self->recorded.error);
  g_assert_nonnull (strstr (self->recorded.error->message, "/nonexistent/program"));
}

static void
test_ends_when_cancelled (Fixture *self, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  SysprofCaptureWriter *writer = new_writer_for (self->fd);

  sysprof_profiler_record_async (self->profiler, writer, cancellable, recording_began,
                                 &self->recorded);
  sysprof_capture_writer_unref (writer);
  g_cancellable_cancel (cancellable);
  while (!self->recorded.ended)
    g_main_context_iteration (NULL, TRUE);
  g_assert_no_error (self->recorded.error);
}

#define ADD(name, func) \
  g_test_add ("/record/pump/" name, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("phases-in-order-on-one-thread", test_phases_in_order_on_one_thread);
  ADD ("instrument-that-fails-is-left-out", test_instrument_that_fails_is_left_out);
  ADD ("ends-after-its-duration", test_ends_after_its_duration);
  ADD ("ends-at-its-size", test_ends_at_its_size);
  ADD ("ends-when-asked", test_ends_when_asked);
  ADD ("ends-when-cancelled", test_ends_when_cancelled);
  ADD ("ends-with-its-program", test_ends_with_its_program);
  ADD ("program-that-is-not-there", test_program_that_is_not_there);
  ADD ("skips-what-is-to-be-added", test_skips_what_is_to_be_added);
  ADD ("output-that-cannot-grow", test_output_that_cannot_grow);
  ADD ("pipe-that-is-closed", test_pipe_that_is_closed);
  ADD ("pipe-that-stalls", test_pipe_that_stalls);
  ADD ("can-be-read-while-it-runs", test_can_be_read_while_it_runs);
  return g_test_run ();
}
