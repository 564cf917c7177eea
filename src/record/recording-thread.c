// SPDX-License-Identifier: GPL-3.0-or-later

/* The phases of a recording (see recording-thread.h). Only the pump thread runs this code and
 * uses this data, except where a comment says otherwise. */

#include "record/recording-thread.h"

#include "access/access.h"
#include "capture/capture.h"
#include "record/clock.h"
#include "record/instrument.h"
#include "record/instruments/program-rings.h"
#include "record/metadata.h"
#include "record/recording-thread-private.h"
#include "record/service.h"
#include "util/util.h"

#include <signal.h>

#define FLUSH_INTERVAL (1 * NSEC_PER_SEC)
/* the maximum age of the numbers in the status line */
#define PUBLISH_INTERVAL (100 * NSEC_PER_MSEC)

static bool
has_failed (RecordingThread *self)
{
  bool failed;

  pthread_mutex_lock (&self->lock);
  failed = self->error != NULL;
  pthread_mutex_unlock (&self->lock);
  return failed;
}

static void
drop_instrument (RecordingThread *self, guint i, const GError *error)
{
  SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);

  sysprof_instrument_report_missing (
      instrument, &self->context, SYSPROF_INSTRUMENT_GET_CLASS (instrument)->name,
      error != NULL ? error->message
                    : "It failed without an error message; please report "
                      "this.");
  g_ptr_array_index (self->is_left_out, i) = GINT_TO_POINTER (true);
}

static bool
is_left_out (RecordingThread *self, guint i)
{
  return g_ptr_array_index (self->is_left_out, i) != NULL;
}

static void
prepare_instruments (RecordingThread *self, bool opens_events)
{
  for (guint i = 0; i < self->instruments->len && !has_failed (self); i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);
      g_autoptr (GError) error = NULL;

      if (klass->opens_events != opens_events || klass->prepare == NULL)
        continue;

      if (!klass->prepare (instrument, &self->context, &error))
        drop_instrument (self, i, error);
    }
}

static bool
bundles_kernel_symbols (RecordingThread *self)
{
  for (guint i = 0; i < self->instruments->len; i++)
    if (SYSPROF_INSTRUMENT_GET_CLASS (g_ptr_array_index (self->instruments, i))
            ->bundles_kernel_symbols)
      return true;
  return false;
}

static void
record_instruments (RecordingThread *self, bool opens_events)
{
  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);

      if (klass->opens_events == opens_events && klass->record != NULL &&
          !is_left_out (self, i))
        klass->record (instrument, &self->context);
    }
}

static void
flush_tick (RecordingContext *context, int64_t now, void *data)
{
  RecordingThread *self = data;

  sysprof_loss_counters_write (self, now);
  sysprof_output_flush (self->output);
  if (self->tail_frames != NULL)
    sysprof_tail_frames_flush (self->tail_frames);
  sysprof_recording_thread_publish_status (self, now);
  self->events.second (self->events_data);
}

static bool
has_reached_limit (RecordingThread *self, int64_t now)
{
  if (self->options.max_duration > 0 && now - self->context.begin >= self->options.max_duration)
    return true;

  return self->options.max_size > 0 &&
         sysprof_recording_thread_get_size (self) >= self->options.max_size;
}

static void
run_loop (RecordingThread *self)
{
  int64_t deadline = self->options.max_duration > 0
                         ? self->context.begin + self->options.max_duration
                         : INT64_MAX;

  while (!sysprof_pump_is_stop_requested (self->context.pump))
    {
      int64_t now;

      sysprof_pump_dispatch (self->context.pump, deadline);

      now = sysprof_clock_now ();
      if (now >= self->published_at + PUBLISH_INTERVAL)
        sysprof_recording_thread_publish_status (self, now);
      if (has_reached_limit (self, now))
        break;
    }
}

static void
stop_instruments (RecordingThread *self, bool opens_events)
{
  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);

      if (klass->opens_events == opens_events && klass->stop != NULL && !is_left_out (self, i))
        klass->stop (instrument, &self->context);
    }
}

/* Instruments that read the recording come last, when all others have written their data. */
static void
augment_instruments (RecordingThread *self, bool reads_recording)
{
  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);
      g_autoptr (GError) error = NULL;

      if (klass->augment == NULL || klass->reads_recording != reads_recording ||
          is_left_out (self, i) || sysprof_context_is_augment_skipped (&self->context))
        continue;

      if (!klass->augment (instrument, &self->context, &error))
        drop_instrument (self, i, error);
    }
}

/* Appends the frames that Sysprof 3.46 takes for the end of the capture. */
static void
append_instruments (RecordingThread *self)
{
  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);
      g_autoptr (GError) error = NULL;

      if (klass->append == NULL || is_left_out (self, i) ||
          sysprof_context_is_augment_skipped (&self->context))
        continue;

      if (!klass->append (instrument, &self->context, &error))
        drop_instrument (self, i, error);
    }
}

static void
lose_tail_frames (RecordingThread *self)
{
  uint64_t n =
      self->tail_frames != NULL ? sysprof_tail_frames_get_n_frames (self->tail_frames) : 0;

  if (n == 0)
    return;

  sysprof_context_add_lost (&self->context, LOST_OTHERS, n);
  sysprof_context_report (&self->context, "Recorder", false,
                          "%" G_GUINT64_FORMAT " messages are lost: they are appended at the "
                          "end, but the recording could not be written that far. Record where "
                          "there is more space.",
                          n);
}

/* Also runs if the user skips symbols, because these frames were recorded before. */
static void
append_tail_frames (RecordingThread *self)
{
  TailFrames *tail_frames = g_steal_pointer (&self->tail_frames);
  g_autoptr (GError) error = NULL;
  uint64_t n_lost;

  if (tail_frames == NULL)
    return;

  n_lost = sysprof_tail_frames_append_to (tail_frames, self->context.writer, &error);
  if (n_lost > 0)
    {
      sysprof_context_add_lost (&self->context, LOST_OTHERS, n_lost);
      sysprof_context_report (&self->context, "Recorder", false,
                              "%" G_GUINT64_FORMAT " messages are lost: %s", n_lost,
                              error != NULL ? error->message
                                            : "their temporary file cannot be "
                                              "read back.");
    }
  sysprof_tail_frames_free (tail_frames);
}

static void
output_failed (void *data)
{
  sysprof_pump_request_stop (data);
}

static void
stop (RecordingThread *self)
{
  self->context.end = sysprof_clock_now ();
  atomic_store_explicit (&self->status.end, self->context.end, memory_order_relaxed);
  sysprof_output_set_patient (self->output);
  /* Instruments with kernel events stop first: their rings could overflow while the others wait
   * for an answer. */
  stop_instruments (self, true);
  stop_instruments (self, false);
  sysprof_pump_run_invoked (self->context.pump);
}

static void
report_missing_confinement (RecordingThread *self)
{
  const char *missing = sysprof_privilege_describe_missing_confinement ();

  if (missing != NULL)
    sysprof_context_report (&self->context, "Recorder", false, "%s", missing);
}

/* If this process may not sample the whole machine, and an instrument needs that. */
static void
borrow_rights (RecordingThread *self)
{
  bool opens_events = false;
  OlderService *older;
  g_autofree char *reason = NULL;

  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);

      opens_events |= SYSPROF_INSTRUMENT_GET_CLASS (instrument)->opens_events &&
                      !SYSPROF_IS_PROGRAM_RINGS (instrument);
    }
  if (!opens_events || !self->options.asks_service || self->options.helper >= 0 ||
      sysprof_privilege_get_root (self->context.privilege)[0] != '\0' ||
      !sysprof_may_need_service ())
    return;
  self->service_fd = sysprof_service_connect (self->context.pump, &older, &reason);
  sysprof_privilege_set_helper (self->context.privilege, self->service_fd);
  sysprof_privilege_set_older_service (self->context.privilege, older);
  if (reason != NULL)
    sysprof_context_report (&self->context, "Rights", false, "%s", reason);
}

/* FALSE if it failed before anything was recorded. The status then has no start time, so
 * callers see that nothing was recorded. */
static bool
record (RecordingThread *self)
{
  bool is_started;

  borrow_rights (self);
  self->context.bundles_kernel_symbols = bundles_kernel_symbols (self);
  prepare_instruments (self, true);
  prepare_instruments (self, false);

  self->cpu_begin = sysprof_recording_own_cpu_time ();
  self->context.begin = sysprof_clock_now ();
  if (has_failed (self))
    {
      stop (self);
      return false;
    }

  atomic_store_explicit (&self->status.begin, self->context.begin, memory_order_release);
  record_instruments (self, true);
  sysprof_loss_counters_define (self);
  record_instruments (self, false);
  sysprof_record_metadata_write (self->context.writer, self->context.spawnable,
                                 self->options.record_environment);
  report_missing_confinement (self);
  sysprof_pump_start_ticks (self->context.pump, self->context.begin);
  sysprof_pump_add_tick (self->context.pump, FLUSH_INTERVAL, flush_tick, self);

  is_started = self->context.spawnable == NULL || sysprof_spawned_program_start (self);
  if (is_started)
    run_loop (self);
  stop (self);
  return is_started;
}

static void
finish (RecordingThread *self, bool augments)
{
  g_autoptr (GError) error = NULL;

  /* A full disk stays full, so nothing more is added; the frames written so far remain. */
  if (sysprof_output_sync (self->output, NULL))
    {
      if (augments)
        augment_instruments (self, false);
      augment_instruments (self, true);
      sysprof_pump_run_invoked (self->context.pump);
      sysprof_loss_counters_finish (self);
      append_instruments (self);
      append_tail_frames (self);
    }
  else
    lose_tail_frames (self);

  if (!sysprof_output_finish (self->output, self->context.begin, self->context.end, &error))
    sysprof_context_fail (&self->context, g_steal_pointer (&error));

  sysprof_recording_thread_publish_status (self, sysprof_clock_now ());
  atomic_store_explicit (&self->status.cpu_end, sysprof_recording_own_cpu_time (),
                         memory_order_relaxed);
}

static void *
pump_thread (void *data)
{
  RecordingThread *self = data;
  sigset_t all;

  /* Signals belong to the application: they must reach its main thread. */
  sigfillset (&all);
  pthread_sigmask (SIG_BLOCK, &all, &self->inherited_signals);
  sysprof_shorten_slice (); /* so that this thread drains the rings before they are full */

  finish (self, record (self));
  sysprof_pump_close_invoked (self->context.pump);
  self->events.ended (self->events_data, self->error);
  return NULL;
}

RecordingThread *
sysprof_recording_thread_new (SysprofCaptureWriter *writer,
                              const RecordingOptions *options,
                              const RecordingEvents *events,
                              void *data)
{
  RecordingThread *self = g_new0 (RecordingThread, 1);

  self->context.pump = sysprof_pump_new (&self->context);
  self->context.augment_cancellable = g_cancellable_new ();
  pthread_mutex_init (&self->lock, NULL);
  self->context.writer = sysprof_capture_writer_ref (writer);
  self->options = *options;
  self->instruments = g_ptr_array_ref (options->instruments);
  self->is_left_out = g_ptr_array_new ();
  g_ptr_array_set_size (self->is_left_out, (int) options->instruments->len);
  self->context.spawnable =
      options->spawnable != NULL ? g_object_ref (options->spawnable) : NULL;
  self->events = *events;
  self->events_data = data;
  self->program_fd = -1;
  self->service_fd = -1;
  self->context.privilege = options->machine != NULL
                                ? sysprof_privilege_new_below (options->machine)
                                : sysprof_privilege_new_for_helper (options->helper);
  self->options.machine = NULL; /* the caller owns the string; the Privilege has its own copy */
  return self;
}

bool
sysprof_recording_thread_start (RecordingThread *self, GError **error)
{
  bool keep_copy = false;

  for (guint i = 0; i < self->instruments->len; i++)
    keep_copy |= SYSPROF_INSTRUMENT_GET_CLASS (g_ptr_array_index (self->instruments, i))
                     ->reads_recording;

  if (sysprof_pump_open (self->context.pump, error))
    self->output = sysprof_output_new (self->context.writer, keep_copy, output_failed,
                                       self->context.pump, error);
  if (self->output != NULL)
    self->thread = g_thread_try_new ("sysprof-pump", pump_thread, self, error);
  if (self->thread == NULL)
    sysprof_pump_close_invoked (self->context.pump);
  return self->thread != NULL;
}

void
sysprof_recording_thread_free (RecordingThread *self)
{
  if (self == NULL)
    return;

  if (self->thread != NULL)
    g_thread_join (self->thread);

  sysprof_pump_free (self->context.pump);
  sysprof_autofd_close (&self->program_fd);
  sysprof_tail_frames_free (self->tail_frames);
  sysprof_output_free (self->output);
  sysprof_privilege_unref (self->context.privilege);
  sysprof_autofd_close (&self->service_fd);
  sysprof_process_log_clear (&self->context.process_log);
  sysprof_pinned_files_free (self->context.pinned_files);
  sysprof_kernel_symbol_log_clear (&self->context.kernel_symbol_log);
  sysprof_thread_names_clear (&self->context.thread_names);
  sysprof_capture_writer_unref (self->context.writer);
  g_clear_object (&self->context.spawnable);
  g_ptr_array_unref (self->instruments);
  g_ptr_array_unref (self->is_left_out);
  g_clear_error (&self->error);
  g_object_unref (self->context.augment_cancellable);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

void
sysprof_recording_thread_skip_augment (RecordingThread *self)
{
  g_cancellable_cancel (self->context.augment_cancellable);
}

void
sysprof_recording_thread_request_stop (RecordingThread *self)
{
  sysprof_pump_request_stop (self->context.pump);
}

typedef struct
{
  pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t done;
  bool is_done;
  int fd;
} OpenRequest;

static void
answer_open_request (RecordingContext *context, void *data)
{
  OpenRequest *request = data;
  int fd = sysprof_context_dup_fd (context, NULL);

  pthread_mutex_lock (&request->lock);
  request->fd = fd;
  request->is_done = true;
  pthread_cond_signal (&request->done);
  pthread_mutex_unlock (&request->lock);
}

int
sysprof_recording_thread_dup_written_fd (RecordingThread *self)
{
  return sysprof_output_dup_fd (self->output);
}

int
sysprof_recording_thread_open_recording (RecordingThread *self)
{
  OpenRequest request = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, -1 };

  if (!sysprof_pump_invoke (self->context.pump, answer_open_request, &request))
    return self->output != NULL ? sysprof_output_dup_fd (self->output) : -1;

  pthread_mutex_lock (&request.lock);
  while (!request.is_done)
    pthread_cond_wait (&request.done, &request.lock);
  pthread_mutex_unlock (&request.lock);
  pthread_cond_destroy (&request.done);
  pthread_mutex_destroy (&request.lock);
  return request.fd;
}
