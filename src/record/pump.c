// SPDX-License-Identifier: GPL-3.0-or-later

/* The thread of a recording: its phases, and the loop of the record phase.
 *
 * Only the pump thread runs this code and uses this data, except where a comment says
 * otherwise. The sources (descriptors, ticks, work, calls from other threads) are in
 * pump-sources.c.
 */

#include "record/pump-private.h"

#include "access/access.h"
#include "capture/capture.h"
#include "record/instrument.h"
#include "record/metadata.h"
#include "util/util.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#define FLUSH_INTERVAL (1 * NSEC_PER_SEC)
/* the maximum age of the numbers in the status line */
#define PUBLISH_INTERVAL (100 * NSEC_PER_MSEC)

int64_t
sysprof_pump_own_cpu_time (void)
{
  struct timespec used;

  if (clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
    return 0;
  return used.tv_sec * NSEC_PER_SEC + used.tv_nsec + sysprof_confined_children_cpu_time ();
}

/* --- status --- */

/* Bytes of the capture so far, including the frames that are appended at the end. */
static uint64_t
get_size (Pump *self)
{
  uint64_t size = sysprof_capture_writer_get_size (self->writer);

  return self->tail_frames != NULL ? size + sysprof_tail_frames_get_size (self->tail_frames)
                                   : size;
}

static uint64_t
get_n_frames (Pump *self)
{
  uint64_t n = sysprof_capture_writer_get_n_frames (self->writer);

  return self->tail_frames != NULL ? n + sysprof_tail_frames_get_n_frames (self->tail_frames)
                                   : n;
}

static void
publish_status (Pump *self, int64_t now)
{
  SysprofCaptureStat stat;

  sysprof_capture_writer_stat (self->writer, &stat);
  atomic_store_explicit (&self->status.n_samples,
                         stat.frame_count[SYSPROF_CAPTURE_FRAME_SAMPLE], memory_order_relaxed);
  atomic_store_explicit (&self->status.n_frames, get_n_frames (self), memory_order_relaxed);
  atomic_store_explicit (&self->status.size, get_size (self), memory_order_relaxed);
  atomic_store_explicit (&self->status.counted_at, now, memory_order_relaxed);
  self->published_at = now;
}

static uint64_t
get_lost (Pump *self, LossKind kind)
{
  return atomic_load_explicit (&self->status.n_lost[kind], memory_order_relaxed);
}

void
sysprof_pump_get_status (Pump *self, PumpStatus *status)
{
  /* Pairs with the release in record(): cpu_begin is set before. */
  int64_t begin = atomic_load_explicit (&self->status.begin, memory_order_acquire);
  int64_t end = atomic_load_explicit (&self->status.end, memory_order_relaxed);
  int64_t cpu_end = atomic_load_explicit (&self->status.cpu_end, memory_order_relaxed);
  int64_t counted_at = atomic_load_explicit (&self->status.counted_at, memory_order_relaxed);

  *status = (PumpStatus){
    .n_samples = atomic_load_explicit (&self->status.n_samples, memory_order_relaxed),
    .n_frames = atomic_load_explicit (&self->status.n_frames, memory_order_relaxed),
    .n_throttled = atomic_load_explicit (&self->status.n_throttled, memory_order_relaxed),
    .size = atomic_load_explicit (&self->status.size, memory_order_relaxed),
  };
  for (LossKind i = 0; i < N_LOSS_KINDS; i++)
    status->n_lost[i] = get_lost (self, i);

  if (begin == 0)
    return;

  status->duration = (end != 0 ? end : sysprof_pump_now ()) - begin;
  status->is_stopped = end != 0;
  status->counted = MAX (counted_at - begin, 0);
  status->cpu_nsec = (cpu_end != 0 ? cpu_end : sysprof_pump_own_cpu_time ()) - self->cpu_begin;
}

void
sysprof_pump_add_lost (Pump *self, LossKind kind, uint64_t n)
{
  atomic_fetch_add_explicit (&self->status.n_lost[kind], n, memory_order_relaxed);
}

void
sysprof_pump_add_throttled (Pump *self, uint64_t n)
{
  atomic_fetch_add_explicit (&self->status.n_throttled, n, memory_order_relaxed);
}

/* --- diagnostics --- */

typedef struct
{
  char *domain;
  char *message;
  bool fatal;
} Report;

static void
free_report (Report *report)
{
  g_free (report->domain);
  g_free (report->message);
  g_free (report);
}

static void
write_report (Pump *self, void *data)
{
  Report *report = data;

  /* The user has seen a diagnostic even if it does not fit into the capture. */
  (void) sysprof_capture_writer_add_log (self->writer, sysprof_pump_now (), -1, -1,
                                         report->fatal ? G_LOG_LEVEL_CRITICAL
                                                       : G_LOG_LEVEL_WARNING,
                                         report->domain, report->message);
  free_report (report);
}

void
sysprof_pump_report (Pump *self, const char *domain, bool fatal, const char *format, ...)
{
  g_autofree char *message = NULL;
  Report *report = g_new0 (Report, 1);
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);

  self->events.diagnostic (self->events_data, domain, message, fatal);

  if (fatal)
    sysprof_pump_fail (self,
                       g_error_new_literal (SYSPROF_ERROR, SYSPROF_ERROR_FAILED, message));

  report->domain = g_strdup (domain);
  report->message = g_steal_pointer (&message);
  report->fatal = fatal;
  if (!sysprof_pump_try_invoke (self, write_report, report))
    free_report (report);
}

typedef struct
{
  char *key;
  char *reason;
} MissingFeature;

static void
free_missing_feature (MissingFeature *missing)
{
  g_free (missing->key);
  g_free (missing->reason);
  g_free (missing);
}

static void
write_lack (Pump *self, void *data)
{
  MissingFeature *missing = data;

  /* The writer reports a full disk at its next flush. */
  (void) sysprof_capture_writer_add_metadata (self->writer, sysprof_pump_now (), -1, -1,
                                              missing->key, missing->reason, -1);
  free_missing_feature (missing);
}

/* The call is queued until the recording starts, because no frame may be older than the start
 * time. */
void
sysprof_pump_note_lack (Pump *self, const char *name, const char *reason)
{
  MissingFeature *missing = g_new0 (MissingFeature, 1);

  missing->key = g_strdup_printf ("org.gnome.sysprof.lacks.%s", name);
  missing->reason = g_strdup (reason);
  if (!sysprof_pump_try_invoke (self, write_lack, missing))
    free_missing_feature (missing);
}

void
sysprof_pump_fail (Pump *self, GError *error)
{
  pthread_mutex_lock (&self->lock);
  if (self->error == NULL)
    self->error = g_steal_pointer (&error);
  pthread_mutex_unlock (&self->lock);
  g_clear_error (&error);

  sysprof_pump_request_stop (self);
}

/* --- counters and logs of lost samples --- */

enum
{
  OWN_THROTTLED = N_LOSS_KINDS, /* after the counters for each kind of loss */
  N_OWN_COUNTERS,
};

static void
define_own_counters (Pump *self)
{
  SysprofCaptureCounter counters[N_OWN_COUNTERS] = {
    [LOST_SAMPLES] = { .category = "Sampler",
                       .name = "Lost Samples",
                       .description = "Samples that were dropped" },
    [LOST_RECORDS] = { .category = "Sampler",
                       .name = "Lost Records",
                       .description = "Dropped records of processes and mappings" },
    [LOST_OTHERS] = { .category = "Sampler",
                      .name = "Lost Others",
                      .description = "Dropped waits, messages and files" },
    [OWN_THROTTLED] = { .category = "Sampler",
                        .name = "Throttled Samples",
                        .description = "Samples that the kernel throttled" },
  };

  self->first_counter = sysprof_capture_writer_request_counter (self->writer, N_OWN_COUNTERS);
  if (self->first_counter == 0)
    return;

  for (unsigned i = 0; i < N_OWN_COUNTERS; i++)
    {
      counters[i].id = (self->first_counter + i) & 0xffffff;
      counters[i].type = SYSPROF_CAPTURE_COUNTER_INT64;
    }

  if (!sysprof_capture_writer_define_counters (self->writer, self->begin, -1, -1, counters,
                                               N_OWN_COUNTERS))
    self->first_counter = 0;
}

/* FALSE if there was no space; the next message then counts these losses, too. */
static bool
log_growth (Pump *self, int64_t now, LossKind kind, uint64_t n)
{
  static const char *const nouns[] = {
    [LOST_SAMPLES] = "samples",
    [LOST_RECORDS] = "records of processes and mappings",
    [LOST_OTHERS] = "other frames",
  };
  char message[80];

  if (n == self->told[kind])
    return true;
  g_snprintf (message, sizeof message, "Lost %" G_GUINT64_FORMAT " %s", n - self->told[kind],
              nouns[kind]);
  return sysprof_capture_writer_add_log (self->writer, now, -1, -1, G_LOG_LEVEL_CRITICAL,
                                         "Sampler", message);
}

static void
write_own_counters (Pump *self, int64_t now)
{
  uint64_t sums[G_N_ELEMENTS (self->told)];
  unsigned ids[N_OWN_COUNTERS];
  SysprofCaptureCounterValue values[N_OWN_COUNTERS];
  unsigned n = 0;

  for (LossKind i = 0; i < N_LOSS_KINDS; i++)
    {
      sums[i] = get_lost (self, i);
      if (!log_growth (self, now, i, sums[i]))
        sums[i] = self->told[i];
    }
  sums[OWN_THROTTLED] = atomic_load_explicit (&self->status.n_throttled, memory_order_relaxed);

  for (unsigned i = 0; i < G_N_ELEMENTS (sums); i++)
    if (sums[i] != self->told[i] || !self->told_once)
      {
        ids[n] = self->first_counter + i;
        values[n++].v64 = (int64_t) sums[i];
      }

  if (n > 0 && self->first_counter != 0 &&
      !sysprof_capture_writer_set_counters (self->writer, now, -1, -1, ids, values, n))
    return;

  memcpy (self->told, sums, sizeof sums);
  self->told_once = true;
}

static void
add_count_metadata (Pump *self, const char *key, uint64_t n)
{
  char value[24];

  g_snprintf (value, sizeof value, "%" G_GUINT64_FORMAT, n);
  (void) sysprof_capture_writer_add_metadata (self->writer, self->end, -1, -1, key, value, -1);
}

/* Writes the losses so far. Losses during this call do not show in the capture. */
static void
write_final_accounts (Pump *self)
{
  write_own_counters (self, self->end);
  add_count_metadata (self, "org.gnome.sysprof.lost",
                      get_lost (self, LOST_SAMPLES) + get_lost (self, LOST_RECORDS) +
                          get_lost (self, LOST_OTHERS));
  add_count_metadata (self, "org.gnome.sysprof.lost-samples", get_lost (self, LOST_SAMPLES));
  add_count_metadata (self, "org.gnome.sysprof.lost-records", get_lost (self, LOST_RECORDS));
  add_count_metadata (self, "org.gnome.sysprof.throttled",
                      atomic_load_explicit (&self->status.n_throttled, memory_order_relaxed));
}

/* --- the spawned program --- */

void
sysprof_pump_begin_spawn (Pump *self)
{
  pthread_sigmask (SIG_SETMASK, &self->inherited_signals, NULL);
  sysprof_descriptor_limit_restore ();
}

void
sysprof_pump_end_spawn (Pump *self)
{
  sigset_t all;

  sigfillset (&all);
  pthread_sigmask (SIG_BLOCK, &all, NULL);
  sysprof_descriptor_limit_raise_again ();
}

static void
program_ended (Pump *self, int fd, void *data)
{
  sysprof_pump_unwatch_fd (self, fd);
  sysprof_pump_request_stop (self);
}

static bool
spawn_program (Pump *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) subprocess = NULL;
  const char *identifier;

  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);

      if (klass->prepare_spawnable != NULL)
        klass->prepare_spawnable (instrument, self, self->options.spawnable);
    }

  sysprof_pump_begin_spawn (self);
  subprocess = sysprof_spawnable_spawn (self->options.spawnable, &error);
  sysprof_pump_end_spawn (self);
  if (subprocess == NULL)
    {
      self->events.diagnostic (self->events_data, "Program", error->message, true);
      sysprof_pump_fail (self, g_steal_pointer (&error));
      return false;
    }

  identifier = g_subprocess_get_identifier (subprocess);
  if (identifier != NULL)
    self->program_fd = (int) syscall (SYS_pidfd_open, atoi (identifier), 0);

  self->events.spawned (self->events_data, subprocess);

  if (self->program_fd >= 0)
    sysprof_pump_watch_fd (self, self->program_fd, program_ended, NULL);
  else
    sysprof_pump_request_stop (self); /* the program has exited and was reaped */

  return true;
}

/* --- the phases --- */

static bool
has_failed (Pump *self)
{
  bool failed;

  pthread_mutex_lock (&self->lock);
  failed = self->error != NULL;
  pthread_mutex_unlock (&self->lock);
  return failed;
}

static void
drop_instrument (Pump *self, guint i, const GError *error)
{
  SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);

  sysprof_instrument_tell_lack (
      instrument, self, SYSPROF_INSTRUMENT_GET_CLASS (instrument)->name,
      error != NULL ? error->message
                    : "It failed without an error message; please report "
                      "this.");
  g_ptr_array_index (self->is_left_out, i) = GINT_TO_POINTER (true);
}

static bool
is_left_out (Pump *self, guint i)
{
  return g_ptr_array_index (self->is_left_out, i) != NULL;
}

static void
prepare_instruments (Pump *self, bool opens_events)
{
  for (guint i = 0; i < self->instruments->len && !has_failed (self); i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);
      g_autoptr (GError) error = NULL;

      if (klass->opens_events != opens_events || klass->prepare == NULL)
        continue;

      if (!klass->prepare (instrument, self, &error))
        drop_instrument (self, i, error);
    }
}

static void
record_instruments (Pump *self, bool opens_events)
{
  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);

      if (klass->opens_events == opens_events && klass->record != NULL &&
          !is_left_out (self, i))
        klass->record (instrument, self);
    }
}

static void
flush_tick (Pump *self, int64_t now, void *data)
{
  write_own_counters (self, now);
  sysprof_output_flush (self->output);
  if (self->tail_frames != NULL)
    sysprof_tail_frames_flush (self->tail_frames);
  publish_status (self, now);
  self->events.second (self->events_data);
}

static bool
has_reached_limit (Pump *self, int64_t now)
{
  if (self->options.max_duration > 0 && now - self->begin >= self->options.max_duration)
    return true;

  return self->options.max_size > 0 && get_size (self) >= self->options.max_size;
}

static void
run_loop (Pump *self)
{
  int64_t deadline =
      self->options.max_duration > 0 ? self->begin + self->options.max_duration : INT64_MAX;

  while (!atomic_load_explicit (&self->stop_requested, memory_order_acquire))
    {
      int64_t now;

      sysprof_pump_dispatch (self, deadline);

      now = sysprof_pump_now ();
      if (now >= self->published_at + PUBLISH_INTERVAL)
        publish_status (self, now);
      if (has_reached_limit (self, now))
        break;
    }
}

static void
stop_instruments (Pump *self, bool opens_events)
{
  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);

      if (klass->opens_events == opens_events && klass->stop != NULL && !is_left_out (self, i))
        klass->stop (instrument, self);
    }
}

/* Instruments that read the recording come last, when all others have written their data. */
static void
augment_instruments (Pump *self, bool reads_recording)
{
  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);
      g_autoptr (GError) error = NULL;

      if (klass->augment == NULL || klass->reads_recording != reads_recording ||
          is_left_out (self, i) || sysprof_pump_is_augment_skipped (self))
        continue;

      if (!klass->augment (instrument, self, &error))
        drop_instrument (self, i, error);
    }
}

/* Appends the frames that Sysprof 3.46 takes for the end of the capture. */
static void
append_instruments (Pump *self)
{
  for (guint i = 0; i < self->instruments->len; i++)
    {
      SysprofInstrument *instrument = g_ptr_array_index (self->instruments, i);
      SysprofInstrumentClass *klass = SYSPROF_INSTRUMENT_GET_CLASS (instrument);
      g_autoptr (GError) error = NULL;

      if (klass->append == NULL || is_left_out (self, i) ||
          sysprof_pump_is_augment_skipped (self))
        continue;

      if (!klass->append (instrument, self, &error))
        drop_instrument (self, i, error);
    }
}

static void
lose_tail_frames (Pump *self)
{
  uint64_t n =
      self->tail_frames != NULL ? sysprof_tail_frames_get_n_frames (self->tail_frames) : 0;

  if (n == 0)
    return;

  sysprof_pump_add_lost (self, LOST_OTHERS, n);
  sysprof_pump_report (self, "Recorder", false,
                       "%" G_GUINT64_FORMAT " messages are lost: they are appended at the "
                       "end, but the recording could not be written that far. Record where "
                       "there is more space.",
                       n);
}

/* Also runs if the user skips symbols, because these frames were recorded before. */
static void
append_tail_frames (Pump *self)
{
  TailFrames *tail_frames = g_steal_pointer (&self->tail_frames);
  g_autoptr (GError) error = NULL;
  uint64_t n_lost;

  if (tail_frames == NULL)
    return;

  n_lost = sysprof_tail_frames_append_to (tail_frames, self->writer, &error);
  if (n_lost > 0)
    {
      sysprof_pump_add_lost (self, LOST_OTHERS, n_lost);
      sysprof_pump_report (self, "Recorder", false,
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
stop (Pump *self)
{
  self->end = sysprof_pump_now ();
  atomic_store_explicit (&self->status.end, self->end, memory_order_relaxed);
  sysprof_output_set_patient (self->output);
  /* Instruments with kernel events stop first: their rings could overflow while the others wait
   * for an answer. */
  stop_instruments (self, true);
  stop_instruments (self, false);
  sysprof_pump_run_invoked (self);
}

static void
report_missing_confinement (Pump *self)
{
  const char *missing = sysprof_privilege_describe_missing_confinement ();

  if (missing != NULL)
    sysprof_pump_report (self, "Recorder", false, "%s", missing);
}

/* FALSE if it failed before anything was recorded. The status then has no start time, so
 * callers see that nothing was recorded. */
static bool
record (Pump *self)
{
  bool is_started;

  prepare_instruments (self, true);
  prepare_instruments (self, false);

  self->cpu_begin = sysprof_pump_own_cpu_time ();
  self->begin = sysprof_pump_now ();
  if (has_failed (self))
    {
      stop (self);
      return false;
    }

  atomic_store_explicit (&self->status.begin, self->begin, memory_order_release);
  record_instruments (self, true);
  define_own_counters (self);
  record_instruments (self, false);
  sysprof_record_metadata_write (self->writer, self->options.spawnable,
                                 self->options.record_environment);
  report_missing_confinement (self);
  sysprof_pump_start_ticks (self);
  sysprof_pump_add_tick (self, FLUSH_INTERVAL, flush_tick, NULL);

  is_started = self->options.spawnable == NULL || spawn_program (self);
  if (is_started)
    run_loop (self);
  stop (self);
  return is_started;
}

static void
finish (Pump *self, bool augments)
{
  g_autoptr (GError) error = NULL;

  /* A full disk stays full, so nothing more is added; the frames written so far remain. */
  if (sysprof_output_sync (self->output, NULL))
    {
      if (augments)
        augment_instruments (self, false);
      augment_instruments (self, true);
      sysprof_pump_run_invoked (self);
      write_final_accounts (self);
      append_instruments (self);
      append_tail_frames (self);
    }
  else
    lose_tail_frames (self);

  if (!sysprof_output_finish (self->output, self->begin, self->end, &error))
    sysprof_pump_fail (self, g_steal_pointer (&error));

  publish_status (self, sysprof_pump_now ());
  atomic_store_explicit (&self->status.cpu_end, sysprof_pump_own_cpu_time (),
                         memory_order_relaxed);
}

static void *
pump_thread (void *data)
{
  Pump *self = data;
  sigset_t all;

  /* Signals belong to the application: they must reach its main thread. */
  sigfillset (&all);
  pthread_sigmask (SIG_BLOCK, &all, &self->inherited_signals);
  sysprof_shorten_slice (); /* so that this thread drains the rings before they are full */

  finish (self, record (self));
  sysprof_pump_close_invoked (self);
  self->events.ended (self->events_data, self->error);
  return NULL;
}

/* --- functions for other modules --- */

Pump *
sysprof_pump_new (SysprofCaptureWriter *writer,
                  const PumpOptions *options,
                  const PumpEvents *events,
                  void *data)
{
  Pump *self = g_new0 (Pump, 1);

  self->augment_cancellable = g_cancellable_new ();
  pthread_mutex_init (&self->lock, NULL);
  self->writer = sysprof_capture_writer_ref (writer);
  self->options = *options;
  self->instruments = g_ptr_array_ref (options->instruments);
  self->is_left_out = g_ptr_array_new ();
  g_ptr_array_set_size (self->is_left_out, (int) options->instruments->len);
  self->options.spawnable =
      options->spawnable != NULL ? g_object_ref (options->spawnable) : NULL;
  self->events = *events;
  self->events_data = data;
  self->program_fd = -1;
  self->epoll_fd = -1;
  self->wake_fd = -1;
  self->privilege = options->machine != NULL
                        ? sysprof_privilege_new_below (options->machine)
                        : sysprof_privilege_new_for_helper (options->helper);
  self->options.machine = NULL; /* the caller owns the string; the Privilege has its own copy */
  return self;
}

bool
sysprof_pump_start (Pump *self, GError **error)
{
  bool keep_copy = false;

  for (guint i = 0; i < self->instruments->len; i++)
    keep_copy |= SYSPROF_INSTRUMENT_GET_CLASS (g_ptr_array_index (self->instruments, i))
                     ->reads_recording;

  if (sysprof_pump_open_sources (self, error))
    self->output = sysprof_output_new (self->writer, keep_copy, output_failed, self, error);
  if (self->output != NULL)
    self->thread = g_thread_try_new ("sysprof-pump", pump_thread, self, error);
  if (self->thread == NULL)
    sysprof_pump_close_invoked (self);
  return self->thread != NULL;
}

void
sysprof_pump_free (Pump *self)
{
  if (self == NULL)
    return;

  if (self->thread != NULL)
    g_thread_join (self->thread);

  sysprof_pump_close_sources (self);
  sysprof_autofd_close (&self->program_fd);
  sysprof_tail_frames_free (self->tail_frames);
  sysprof_output_free (self->output);
  sysprof_privilege_unref (self->privilege);
  sysprof_process_log_clear (&self->process_log);
  sysprof_pinned_files_free (self->pinned_files);
  sysprof_kernel_symbol_log_clear (&self->kernel_symbol_log);
  sysprof_thread_names_clear (&self->thread_names);
  sysprof_capture_writer_unref (self->writer);
  g_clear_object (&self->options.spawnable);
  g_ptr_array_unref (self->instruments);
  g_ptr_array_unref (self->is_left_out);
  g_clear_error (&self->error);
  g_object_unref (self->augment_cancellable);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

void
sysprof_pump_skip_augment (Pump *self)
{
  g_cancellable_cancel (self->augment_cancellable);
}

bool
sysprof_pump_is_augment_skipped (Pump *self)
{
  return g_cancellable_is_cancelled (self->augment_cancellable);
}

GCancellable *
sysprof_pump_get_augment_cancellable (Pump *self)
{
  return self->augment_cancellable;
}

void
sysprof_pump_request_stop (Pump *self)
{
  atomic_store_explicit (&self->stop_requested, true, memory_order_release);
  sysprof_pump_wake (self);
}

bool
sysprof_pump_is_stop_requested (Pump *self)
{
  return atomic_load_explicit (&self->stop_requested, memory_order_acquire);
}

int64_t
sysprof_pump_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

SysprofCaptureWriter *
sysprof_pump_get_writer (Pump *self)
{
  return self->writer;
}

SysprofCaptureWriter *
sysprof_pump_get_late_writer (Pump *self, GError **error)
{
  if (self->tail_frames == NULL)
    self->tail_frames = sysprof_tail_frames_new (error);
  return self->tail_frames != NULL ? sysprof_tail_frames_get_writer (self->tail_frames) : NULL;
}

bool
sysprof_pump_has_late_room (Pump *self)
{
  return self->tail_frames == NULL || sysprof_tail_frames_has_room (self->tail_frames);
}

Privilege *
sysprof_pump_get_privilege (Pump *self)
{
  return self->privilege;
}

Unwinder *
sysprof_pump_get_unwinder (Pump *self)
{
  return self->unwinder;
}

void
sysprof_pump_set_unwinder (Pump *self, Unwinder *unwinder)
{
  self->unwinder = unwinder;
}

const PinnedFiles *
sysprof_pump_get_pinned_files (Pump *self)
{
  return self->pinned_files;
}

void
sysprof_pump_set_pinned_files (Pump *self, PinnedFiles *kept)
{
  sysprof_pinned_files_free (self->pinned_files);
  self->pinned_files = kept;
}

ProcessLog *
sysprof_pump_get_process_log (Pump *self)
{
  return &self->process_log;
}

KernelSymbolLog *
sysprof_pump_get_kernel_symbol_log (Pump *self)
{
  return &self->kernel_symbol_log;
}

ThreadNames *
sysprof_pump_get_thread_names (Pump *self)
{
  return &self->thread_names;
}

bool
sysprof_pump_bundles_kernel_symbols (Pump *self)
{
  for (guint i = 0; i < self->instruments->len; i++)
    if (SYSPROF_INSTRUMENT_GET_CLASS (g_ptr_array_index (self->instruments, i))
            ->bundles_kernel_symbols &&
        !is_left_out (self, i))
      return true;
  return false;
}

SysprofSpawnable *
sysprof_pump_get_spawnable (Pump *self)
{
  return self->options.spawnable;
}

bool
sysprof_pump_get_record_environment (Pump *self)
{
  return self->options.record_environment;
}

int64_t
sysprof_pump_get_begin_time (Pump *self)
{
  return self->begin;
}

int64_t
sysprof_pump_get_end_time (Pump *self)
{
  return self->end;
}

bool
sysprof_pump_is_congested (Pump *self)
{
  return sysprof_output_is_congested (self->output);
}

static void
set_read_back_error (GError **error)
{
  g_set_error (
      error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
      "the recording cannot be read back (a recording to a pipe is also kept in '%s'): %s. "
      "Set TMPDIR to a directory with more space, or record to a file.",
      g_get_tmp_dir (), g_strerror (errno));
}

int
sysprof_pump_dup_fd (Pump *self, GError **error)
{
  int fd;

  if (!sysprof_output_sync (self->output, error))
    return -1;

  fd = sysprof_output_dup_fd (self->output);
  if (fd < 0)
    set_read_back_error (error);
  return fd;
}

typedef struct
{
  pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t done;
  bool is_done;
  int fd;
} OpenRequest;

static void
answer_open_request (Pump *self, void *data)
{
  OpenRequest *request = data;
  int fd = sysprof_pump_dup_fd (self, NULL);

  pthread_mutex_lock (&request->lock);
  request->fd = fd;
  request->is_done = true;
  pthread_cond_signal (&request->done);
  pthread_mutex_unlock (&request->lock);
}

int
sysprof_pump_dup_written_fd (Pump *self)
{
  return sysprof_output_dup_fd (self->output);
}

int
sysprof_pump_open_recording (Pump *self)
{
  OpenRequest request = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, -1 };

  if (!sysprof_pump_try_invoke (self, answer_open_request, &request))
    return self->output != NULL ? sysprof_output_dup_fd (self->output) : -1;

  pthread_mutex_lock (&request.lock);
  while (!request.is_done)
    pthread_cond_wait (&request.done, &request.lock);
  pthread_mutex_unlock (&request.lock);
  pthread_cond_destroy (&request.done);
  pthread_mutex_destroy (&request.lock);
  return request.fd;
}
