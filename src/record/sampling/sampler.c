// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples stacks of the whole system or of chosen processes with kernel events.
 *
 * A request that is impossible ends the recording, for example a process that does not exist or
 * an event that the machine does not have. If privileges are missing, the recording is narrowed
 * step by step, and the user is informed:
 *
 *   everything ─▶ our own processes ─▶ their user code ─▶ no samples
 */

#include "record/clock.h"
#include "record/record.h"

#include "access/access.h"
#include "capture/capture.h"
#include "perf/perf.h"
#include "record/recording-context.h"
#include "record/sampling/feed.h"
#include "record/sampling/request.h"
#include "unwinder/unwinder.h"
#include "util/util.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

#define GONE_INTERVAL (100 * NSEC_PER_MSEC)
/* how often samples finished by the unwinder are written */
#define FINISHED_INTERVAL   (200 * NSEC_PER_MSEC)
#define MAX_FREQUENCY_PATH  "/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_CALL_DEPTH_PATH "/proc/sys/kernel/perf_event_max_stack"
/* limit of the wait for the tables of running programs; until then their stack copies are
 * queued */
#define MOST_WAITING_MSEC 250
#define LOAD_PATIENCE     100 /* ms */
#define TALLY_NAME        "__unwind__"
/* Each needs a descriptor; most machines run the code of about 250 files. */
#define MOST_KEPT_FILES 512
/* bytes of a value: Sysprof 3.46 joins frames of at most 16,384 bytes */
#define MOST_METADATA 16000

/* A process or thread that the user has named. */
typedef struct
{
  pid_t id;
  int fd; /* pidfd; -1 = none (a thread), so it is checked in /proc */
} WatchedTask;

struct _SysprofSampler
{
  SysprofInstrument parent_instance;

  /* Frozen once made; owns its pointers. */
  SamplerOptions options;

  /* Owned by the pump thread. */
  SamplingRequest request;
  EventFeed feed;
  Unwinder *unwinder;             /* NULL: the kernel unwinds by frame pointers */
  bool has_asked_for_descriptors; /* has reserved MOST_KEPT_FILES descriptors */
  /* why stacks are unwound from copies or by frame pointers; NULL = not a fallback */
  char *why_not_better;
  bool is_narrowed;      /* because of missing privileges; the user has been informed */
  int loaded_fd;         /* watched until the BPF program is loaded; -1 = not loading */
  bool is_without_walks; /* the kernel rejected the BPF program */
  UserFilter *filter;
  StackTally *tally;
  EventLedger *ledger; /* NULL = all samples of an event have the same period */
  GArray *watched;     /* [WatchedTask] the recording ends when all have exited */
};

SYSPROF_DEFINE_INSTRUMENT (SysprofSampler, sysprof_sampler)

/* --- limits of this machine --- */

static guint64
read_number (const char *path)
{
  g_autofree char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? g_ascii_strtoull (text, NULL, 10) : 0;
}

static void
respect_limits (SysprofSampler *self, RecordingContext *context)
{
  PerfSessionOptions *session = &self->request.session;
  guint64 max_frequency = read_number (MAX_FREQUENCY_PATH);
  guint64 max_depth = read_number (MAX_CALL_DEPTH_PATH);

  if (max_frequency > 0 && session->frequency > max_frequency && session->event.period == 0)
    {
      sysprof_context_report (
          context, "Sampler", false,
          "%" G_GUINT64_FORMAT
          " samples per second exceed the kernel's limit of %" G_GUINT64_FORMAT
          "; %" G_GUINT64_FORMAT " are taken. Root can raise the limit with "
          "'sudo sysctl kernel.perf_event_max_sample_rate=%" G_GUINT64_FORMAT "'.",
          session->frequency, max_frequency, max_frequency, session->frequency);
      session->frequency = max_frequency;
    }

  if (max_depth > 0 && session->call_depth > max_depth)
    {
      sysprof_context_report (
          context, "Sampler", false,
          "Stacks of %u frames exceed the kernel's limit of %" G_GUINT64_FORMAT "; deeper "
          "stacks are truncated. Root can raise the limit with 'sudo sysctl "
          "kernel.perf_event_max_stack=%u'.",
          session->call_depth, max_depth, session->call_depth);
      session->call_depth = (unsigned) max_depth;
    }
}

/* --- opening, with the available privileges --- */

/* Opens the event that the user has named, else cycles, else the software clock. */
static PerfSession *
try_open (SysprofSampler *self, RecordingContext *context, GError **error)
{
  PerfSessionOptions *options = &self->request.session;
  Privilege *privilege = context->privilege;
  g_autoptr (GError) local = NULL;
  PerfSession *session;

  session = sysprof_perf_session_open (options, privilege, &local);
  if (session == NULL && !self->request.has_event &&
      options->event.type == PERF_TYPE_HARDWARE &&
      g_error_matches (local, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED))
    {
      sysprof_perf_event_init_cpu_clock (&options->event);
      g_clear_error (&local);
      session = sysprof_perf_session_open (options, privilege, &local);
    }

  if (local != NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  return session;
}

static bool
is_denied (const GError *error)
{
  return g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_DENIED);
}

/* Retries without the kernel, which requires more privileges. */
static PerfSession *
try_open_user_code (SysprofSampler *self,
                    RecordingContext *context,
                    bool *only_user_code,
                    GError **error)
{
  g_autoptr (GError) local = NULL;
  PerfSession *session = try_open (self, context, &local);

  *only_user_code = false;
  if (session == NULL && is_denied (local) && !self->request.session.exclude_user)
    {
      g_clear_error (&local);
      *only_user_code = true;
      self->request.session.exclude_kernel = true;
      session = try_open (self, context, &local);
    }

  if (local != NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  return session;
}

static PerfSession *
open_session (SysprofSampler *self, RecordingContext *context, GError **error)
{
  Privilege *privilege = context->privilege;
  g_autoptr (GError) local = NULL;
  g_autofree char *missing = NULL;
  bool only_user_code = false, only_own = false;
  PerfSession *session;

  if (self->request.session.target == PERF_TARGET_TASKS)
    session = try_open_user_code (self, context, &only_user_code, &local);
  else
    session = try_open (self, context, &local);

  if (session == NULL && is_denied (local) &&
      self->request.session.target == PERF_TARGET_SYSTEM)
    {
      g_clear_error (&local);
      only_own = true;
      sysprof_sampling_request_narrow_to_own (&self->request, privilege, geteuid ());
      session = try_open_user_code (self, context, &only_user_code, &local);
    }

  if (session == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }

  if (!only_own && !only_user_code)
    return session;

  self->is_narrowed = true;
  missing = sysprof_privilege_describe_missing_perf (privilege);
  sysprof_context_report (context, "Sampler", false, "Only %s %s is sampled: %s",
                          only_own ? "your own processes'" : "the chosen processes'",
                          only_user_code ? "user code" : "time", missing);
  return session;
}

/* --- choosing the unwind method --- */

static const char *
name_of_method (const SysprofSampler *self)
{
  if (self->options.no_stacks)
    return "none";
  if (self->unwinder == NULL || self->is_without_walks)
    return "frame-pointer";
  return sysprof_unwinder_get_program (self->unwinder) != NULL ? "tables" : "copy";
}

static void
write_method (SysprofSampler *self, RecordingContext *context)
{
  (void) sysprof_capture_writer_add_metadata (context->writer, context->begin, -1, -1,
                                              "org.gnome.sysprof.unwind", name_of_method (self),
                                              -1);
}

/* The program usually loads in the background while the kernel unwinds by frame pointers. It
 * must be loaded first in three cases. With --unwind tables, a failure must be reported at
 * once. Events of chosen tasks cannot get a program after they have started. Tracepoints cannot
 * have a program at all. */
static bool
must_be_loaded_first (const SysprofSampler *self)
{
  return self->options.unwind == UNWIND_TABLES ||
         self->request.session.target == PERF_TARGET_TASKS;
}

/* Keeps code files open for symbolizing at the end. These are files that the unwinder opens
 * anyway. */
static void
keep_files (SysprofSampler *self, RecordingContext *context)
{
  if (!context->bundles_kernel_symbols)
    return;

  if (!self->has_asked_for_descriptors)
    sysprof_descriptor_limit_ask (MOST_KEPT_FILES);
  self->has_asked_for_descriptors = true;
  sysprof_unwinder_keep_files (self->unwinder, MOST_KEPT_FILES);
}

/* The BPF program unwinds. */
static bool
use_tables (SysprofSampler *self, RecordingContext *context, GError **error)
{
  const GArray *processes = self->request.processes;

  self->unwinder = sysprof_unwinder_new (
      context->privilege, &(UnwinderOptions){ .call_depth = self->request.session.call_depth },
      error);
  if (self->unwinder == NULL)
    return false;

  keep_files (self, context);
  if (!sysprof_unwinder_start (
          self->unwinder,
          processes != NULL ? (const int32_t *) (const void *) processes->data : NULL,
          processes != NULL ? processes->len : 0, error) ||
      (must_be_loaded_first (self) && !sysprof_unwinder_finish_loading (self->unwinder, error)))
    {
      g_clear_pointer (&self->unwinder, sysprof_unwinder_free);
      return false;
    }

  self->request.session.walker = sysprof_unwinder_get_program (self->unwinder);
  self->request.session.tells_inodes =
      sysprof_unwinder_get_mapping_events (self->unwinder) != NULL;
  return true;
}

/* The unwinder thread unwinds stack copies. It needs data about processes, which
 * start_unwinder_for_copies() provides when the events are open. */
static bool
use_copies (SysprofSampler *self, RecordingContext *context, GError **error)
{
  self->request.session.walker = NULL;
  self->request.session.tells_inodes = false;
  g_clear_pointer (&self->unwinder, sysprof_unwinder_free);
  self->unwinder = sysprof_unwinder_new_for_copies (context->privilege, error);
  if (self->unwinder == NULL)
    return false;

  keep_files (self, context);
  self->request.session.stack_size = self->options.stack_size > 0
                                         ? MIN (self->options.stack_size, PERF_COPY_MOST_SIZE)
                                         : PERF_COPY_SIZE;
  return true;
}

/* The kernel unwinds by frame pointers. */
static void
use_frame_pointers (SysprofSampler *self, const GError *why)
{
  self->request.session.walker = NULL;
  self->request.session.tells_inodes = false;
  self->request.session.stack_size = 0;
  g_clear_pointer (&self->unwinder, sysprof_unwinder_free);
  g_free (self->why_not_better);
  self->why_not_better = g_strdup (why->message);
}

/* Falls back to the next best method because of `why`, which it takes ownership of. FALSE with
 * `error` if the user has requested one method. */
static bool
use_next_best (SysprofSampler *self, RecordingContext *context, GError *why, GError **error)
{
  g_autoptr (GError) local = NULL;

  if (self->options.unwind != UNWIND_AUTO)
    {
      g_propagate_error (error, why);
      return false;
    }

  if (self->request.session.stack_size > 0)
    use_frame_pointers (self, why);
  else
    {
      g_free (self->why_not_better);
      self->why_not_better = g_strdup (why->message);
      if (!use_copies (self, context, &local))
        use_frame_pointers (self, local);
    }
  g_error_free (why);
  return true;
}

/* --- recording event and period of samples --- */

static unsigned
count_events (const SysprofSampler *self)
{
  return 1 + self->request.session.n_further;
}

/* If samples have different events or periods, each sample must contain them. The BPF program
 * does not send them. FALSE with `error` if the user requested the program. */
static bool
prepare_ledger (SysprofSampler *self, GError **error)
{
  PerfSessionOptions *session = &self->request.session;
  bool are_several = session->n_further > 0;
  bool is_varying = self->request.has_event &&
                    sysprof_perf_event_get_period (&session->event, session->frequency) == 0;

  if (self->options.unwind == UNWIND_TABLES && are_several)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot sample on %u events with --unwind tables: the BPF program does not report "
          "the event of a sample. Use --unwind copy, or one event.",
          count_events (self));
      return false;
    }

  if (are_several || (is_varying && self->options.unwind != UNWIND_TABLES))
    self->ledger = session->ledger = sysprof_event_ledger_new ();
  return true;
}

static bool
is_of_tracepoint (const SysprofSampler *self)
{
  return self->request.session.event.type == PERF_TYPE_TRACEPOINT;
}

static void
set_no_program_error (const SysprofSampler *self, GError **error)
{
  if (count_events (self) > 1)
    g_set_error (
        error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
        "the BPF program does not report the event of a sample, and there are %u events.",
        count_events (self));
  else if (is_of_tracepoint (self))
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                 "the kernel does not run the BPF program that unwinds with tables for "
                 "tracepoints such as '%s'.",
                 self->request.session.event.name);
  else
    g_set_error (
        error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
        "the BPF program does not report the period of a sample, which varies; with --event "
        "%s:PERIOD all samples have the same period.",
        self->request.session.event.name);
}

/* Written at the start, so that readers of an unfinished capture have it. */
static void
write_events (SysprofSampler *self, RecordingContext *context)
{
  g_autofree char *lines =
      sysprof_sampling_request_dup_events (&self->request, self->ledger != NULL);

  /* sysprof_context_add_file() counts a failure. */
  (void) sysprof_context_add_file (context, context->begin, -1, CAPTURE_EVENTS_FILE, lines,
                                   strlen (lines), false);
}

static void
finish_ledger (SysprofSampler *self, RecordingContext *context)
{
  if (self->ledger != NULL &&
      !sysprof_event_ledger_finish (self->ledger, context->writer, context->end))
    sysprof_context_add_lost (context, LOST_OTHERS, 1);
}

/* --- the unwinder --- */

/* FALSE with `error` if the requested method is unavailable. */
static bool
prepare_unwinder (SysprofSampler *self, RecordingContext *context, GError **error)
{
  GError *why = NULL;

  if (self->options.unwind == UNWIND_FRAME_POINTER || self->options.no_stacks ||
      self->options.kernel_only)
    return true;

  if (self->options.unwind == UNWIND_COPY)
    return use_copies (self, context, error);
  if (self->ledger != NULL || is_of_tracepoint (self))
    {
      set_no_program_error (self, &why);
      if (self->options.unwind == UNWIND_TABLES)
        g_prefix_error (&why, "Cannot use --unwind tables: ");
      return use_next_best (self, context, why, error);
    }
  return use_tables (self, context, &why) || use_next_best (self, context, why, error);
}

/* If only chosen tasks can be sampled, only they can be watched for their mappings. */
static bool
start_unwinder_for_copies (SysprofSampler *self, RecordingContext *context, GError **error)
{
  const PerfSessionOptions *session = &self->request.session;
  const GArray *processes = self->request.processes;
  g_autoptr (GArray) threads = g_array_new (false, false, sizeof (pid_t));
  bool is_started;

  for (guint i = 0; processes != NULL && i < processes->len; i++)
    (void) sysprof_tasks_append_threads (threads, context->privilege,
                                         g_array_index (processes, int32_t, i));

  if (session->target != PERF_TARGET_TASKS)
    is_started = sysprof_unwinder_start (self->unwinder, NULL, 0, error);
  else if (processes != NULL)
    is_started = sysprof_unwinder_start_for_tasks (
        self->unwinder, (const pid_t *) (const void *) threads->data, threads->len,
        (const int32_t *) (const void *) processes->data, processes->len, error);
  else
    is_started = sysprof_unwinder_start_for_tasks (self->unwinder, session->tasks,
                                                   session->n_tasks, NULL, 0, error);
  if (is_started)
    sysprof_unwinder_wait_until_ready (self->unwinder, MOST_WAITING_MSEC);
  return is_started;
}

/* Takes ownership of `session`, and returns one that is ready, or NULL. */
static PerfSession *
add_unwinder_for_copies (SysprofSampler *self,
                         RecordingContext *context,
                         PerfSession *session,
                         GError **error)
{
  /* Without privileges the kernel only allows to lock little memory, and the rings for samples
   * use all that is left. So they must be opened last. */
  bool is_last = self->request.session.target == PERF_TARGET_TASKS;

  if (is_last)
    g_clear_pointer (&session, sysprof_perf_session_close);
  if (start_unwinder_for_copies (self, context, error))
    return is_last ? open_session (self, context, error) : session;

  sysprof_perf_session_close (session);
  return NULL;
}

static bool
tells_unwinder (const SysprofSampler *self)
{
  return self->unwinder != NULL && sysprof_perf_session_tells_inodes (&self->request.session);
}

/* Nothing has been unwound yet: from here on this is a recording by frame pointers. The
 * unwinder continues if it finds build IDs, or makes tables for the off-CPU instrument. An
 * off-CPU instrument that is prepared later has its own tables. */
static void
go_on_without_unwinder (SysprofSampler *self, RecordingContext *context, const char *why)
{
  PerfDecoder *decoder = sysprof_perf_session_get_decoder (self->feed.session);
  UnwinderStatus status;

  decoder->take_unfinished = NULL;
  decoder->has_walks = false;
  if (!tells_unwinder (self) && !sysprof_unwinder_is_widened (self->unwinder))
    {
      context->unwinder = NULL;
      sysprof_unwinder_stop (self->unwinder, &status);
    }
  self->is_without_walks = true;
  write_method (self, context);
  sysprof_context_report (context, "Sampler", false,
                          "Stacks of programs without frame pointers are truncated: %s", why);
}

/* If only some events get the program, its stacks are used. Samples of the others are unwound
 * by frame pointers and marked as such. */
static void
attach_program (SysprofSampler *self, RecordingContext *context)
{
  WalkerRefusal refusal;
  g_autofree char *why = NULL;

  if (sysprof_perf_session_attach_walker (self->feed.session, &refusal))
    return;

  why = g_strdup_printf (
      "the kernel rejects the BPF program that unwinds them for the event of CPU %d (%s). "
      "Use --unwind=copy to unwind stack copies instead.",
      refusal.cpu, g_strerror (refusal.error));
  if (refusal.is_partial)
    sysprof_context_report (context, "Sampler", false,
                            "Stacks of programs without frame pointers are truncated on some "
                            "CPUs: %s",
                            why);
  else
    go_on_without_unwinder (self, context, why);
}

static void
program_loaded (RecordingContext *context, int fd, void *data)
{
  SysprofSampler *self = data;
  g_autoptr (GError) error = NULL;

  sysprof_pump_unwatch_fd (context->pump, fd);
  self->loaded_fd = -1;
  if (!sysprof_unwinder_finish_loading (self->unwinder, &error))
    go_on_without_unwinder (self, context, error->message);
  else
    attach_program (self, context);
}

/* Opens events with the best unwind method that they support; tracepoints, for example, cannot
 * have a BPF program. */
static PerfSession *
open_session_with_unwinder (SysprofSampler *self, RecordingContext *context, GError **error)
{
  for (;;)
    {
      GError *why = NULL;
      PerfSession *session = open_session (self, context, &why);

      if (session != NULL && self->request.session.stack_size > 0)
        session = add_unwinder_for_copies (self, context, session, &why);
      if (session != NULL)
        return session;

      if (self->unwinder == NULL)
        {
          g_propagate_error (error, why);
          return NULL;
        }
      if (!use_next_best (self, context, why, error))
        return NULL;
    }
}

static void
tell_of_unwinder (SysprofSampler *self, RecordingContext *context)
{
  if (self->why_not_better == NULL)
    return;

  if (self->unwinder == NULL)
    sysprof_context_report (context, "Sampler", false,
                            "Stacks of programs without frame pointers are truncated: %s",
                            self->why_not_better);
  /* Users without the privilege to sample everything have been informed, and that message
   * covers this, too. */
  else if (!self->is_narrowed)
    sysprof_context_report (
        context, "Sampler", false,
        "Stacks are unwound from copies of %u bytes, which costs more and truncates deeper "
        "stacks: %s",
        self->request.session.stack_size, self->why_not_better);
}

/* Writes whole lines, split into parts that fit a frame. */
static void
write_contradictions (RecordingContext *context, const char *lines)
{
  while (*lines != '\0')
    {
      size_t size = strnlen (lines, MOST_METADATA);
      const char *end = memrchr (lines, '\n', size);

      if (end == NULL)
        return; /* no path is that long */
      (void) sysprof_capture_writer_add_metadata (context->writer, context->end, -1, -1,
                                                  "org.gnome.sysprof.contradictions", lines,
                                                  end - lines);
      lines = end + 1;
    }
}

/* Records events that the unwinder has lost and tables that it could not build or store. Writes
 * nothing if there are none. */
static void
write_shortcomings (RecordingContext *context,
                    const UnwinderStatus *status,
                    uint64_t n_without_copy)
{
  g_autofree char *text = NULL;

  if (status->n_lost == 0 && status->use.n_refused == 0 && status->files.n_failed == 0 &&
      n_without_copy == 0)
    return;
  text = g_strdup_printf ("lost=%" G_GUINT64_FORMAT " without-room=%" G_GUINT64_FORMAT
                          " failed=%u without-copy=%" G_GUINT64_FORMAT,
                          status->n_lost, status->use.n_refused, status->files.n_failed,
                          n_without_copy);
  (void) sysprof_capture_writer_add_metadata (context->writer, context->end, -1, -1,
                                              "org.gnome.sysprof.unwinder", text, -1);
}

static void
pass_pinned_files (SysprofSampler *self, RecordingContext *context)
{
  PinnedFiles *kept = sysprof_unwinder_steal_pinned_files (self->unwinder);
  unsigned n_let_go = kept != NULL ? sysprof_pinned_files_get_n_released (kept) : 0;
  g_autofree char *text = g_strdup_printf ("%u", n_let_go);

  if (n_let_go > 0)
    (void) sysprof_capture_writer_add_metadata (context->writer, context->end, -1, -1,
                                                "org.gnome.sysprof.files-let-go", text, -1);
  sysprof_pinned_files_free (context->pinned_files);
  context->pinned_files = kept;
}

/* Writes the samples that are still pending, then the number of stacks for each reason to
 * end. */
static void
finish_unwinder (SysprofSampler *self, RecordingContext *context)
{
  PerfDecoder *decoder = sysprof_perf_session_get_decoder (self->feed.session);
  g_autoptr (GString) counts = g_string_new (NULL);
  UnwinderStatus status;

  sysprof_event_feed_drain (&self->feed);
  sysprof_unwinder_stop (self->unwinder, &status);
  sysprof_unwinder_write_finished (self->unwinder, decoder);
  decoder->take_unfinished = NULL;
  pass_pinned_files (self, context);

  for (uint32_t i = 0; i < WALK_REASONS; i++)
    if (decoder->n_walks[i] > 0)
      g_string_append_printf (counts, "%s%s=%" G_GUINT64_FORMAT, counts->len > 0 ? " " : "",
                              sysprof_walk_reason_to_string (i), decoder->n_walks[i]);
  (void) sysprof_capture_writer_add_metadata (context->writer, context->end, -1, -1,
                                              "org.gnome.sysprof.walks", counts->str, -1);
  write_contradictions (context, status.files.contradictions);
  write_shortcomings (context, &status, decoder->n_without_copy);

  g_debug ("Walks: %s", counts->str);
  g_debug (
      "Unwinder: %u tables (%u files without) of %.1f MB of text, %.1f MB in slabs of %.1f MB, "
      "built in %.0f ms; ready after %.0f ms",
      status.files.n_tables, status.files.n_without, (double) status.files.text_size / 1e6,
      (double) status.use.table_bytes / 1e6, (double) status.use.slab_bytes / 1e6,
      (double) status.files.building_nsec / 1e6, (double) status.ready_nsec / 1e6);
  g_debug ("Unwinder: %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT " wake-ups, %.0f ms "
           "of CPU time, %" G_GUINT64_FORMAT " lost, %" G_GUINT64_FORMAT " without space",
           status.n_events, status.n_wake_ups, (double) status.cpu_nsec / 1e6, status.n_lost,
           status.use.n_refused);
  g_debug ("Unwinder: %" G_GUINT64_FORMAT " pending samples, %" G_GUINT64_FORMAT " "
           "completed, %" G_GUINT64_FORMAT " rejected",
           status.pending.n_taken, status.pending.n_finished, status.pending.n_refused);
  g_debug ("Unwinder: %" G_GUINT64_FORMAT " copies, %" G_GUINT64_FORMAT
           " forwarded, %" G_GUINT64_FORMAT " rejected, %.0f ms of CPU time of the workers",
           status.copies.n_taken, status.copies.n_handed_on, status.copies.n_refused,
           (double) status.copies.cpu_nsec / 1e6);
}

/* Writes the best unwind method of each process, and which samples used another. */
static void
write_tally (SysprofSampler *self, RecordingContext *context)
{
  g_autofree char *text = sysprof_stack_tally_dup_text (self->tally);
  size_t size;
  const void *notes = sysprof_stack_tally_get_notes (self->tally, &size);

  if (size > 0)
    /* sysprof_context_add_file() counts a failure. */
    (void) sysprof_context_add_file (context, context->end, -1, CAPTURE_FOUND_FILE, notes, size,
                                     false);

  if (text[0] != '\0')
    /* sysprof_context_add_file() counts a failure. */
    (void) sysprof_context_add_file (context, context->end, -1, TALLY_NAME, text, strlen (text),
                                     false);
}

static void
write_finished_tick (RecordingContext *context, int64_t now, void *data)
{
  SysprofSampler *self = data;

  if (self->unwinder != NULL && self->feed.session != NULL)
    sysprof_unwinder_write_finished (self->unwinder,
                                     sysprof_perf_session_get_decoder (self->feed.session));
}

/* Decides whether the recording continues without samples. */
static void
report_failure (SysprofSampler *self, RecordingContext *context, const GError *error)
{
  g_autofree char *missing = NULL;

  if (g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED))
    {
      g_autofree char *there = sysprof_perf_events_describe (context->privilege);

      sysprof_context_report (context, "Sampler", true, "%s %s", error->message, there);
      return;
    }

  if (!is_denied (error))
    {
      sysprof_context_report (context, "Sampler", true, "%s", error->message);
      return;
    }

  missing = sysprof_privilege_describe_missing_perf (context->privilege);
  sysprof_context_report (context, "Sampler", false, "No samples are taken: %s", missing);
}

/* --- the end of the chosen tasks --- */

static void
check_all_gone (SysprofSampler *self, RecordingContext *context)
{
  for (guint i = self->watched->len; i > 0; i--)
    {
      WatchedTask *task = &g_array_index (self->watched, WatchedTask, i - 1);

      if (task->fd < 0 && !sysprof_tasks_is_there (context->privilege, task->id))
        g_array_remove_index_fast (self->watched, i - 1);
    }

  /* The pump watches a spawned command itself. */
  if (self->watched->len == 0 && context->spawnable == NULL)
    sysprof_pump_request_stop (context->pump);
}

static void
task_ended (RecordingContext *context, int fd, void *data)
{
  SysprofSampler *self = data;

  sysprof_pump_unwatch_fd (context->pump, fd);
  for (guint i = 0; i < self->watched->len; i++)
    if (g_array_index (self->watched, WatchedTask, i).fd == fd)
      {
        g_array_remove_index_fast (self->watched, i);
        break;
      }
  (void) close (fd);
  check_all_gone (self, context);
}

static void
gone_tick (RecordingContext *context, int64_t now, void *data)
{
  check_all_gone (data, context);
}

static void
watch_tasks (SysprofSampler *self, RecordingContext *context)
{
  if (self->request.watched == NULL)
    return;

  self->watched = g_array_new (false, false, sizeof (WatchedTask));
  for (guint i = 0; i < self->request.watched->len; i++)
    {
      pid_t id = g_array_index (self->request.watched, pid_t, i);
      WatchedTask task = { id, (int) syscall (SYS_pidfd_open, id, 0) };

      g_array_append_val (self->watched, task);
      if (task.fd >= 0)
        sysprof_pump_watch_fd (context->pump, task.fd, task_ended, self);
    }
  sysprof_pump_add_tick (context->pump, GONE_INTERVAL, gone_tick, self);
}

/* Waiting a moment for the program avoids stacks by frame pointers. On a busy machine loading
 * may take longer; the recording then starts without it. */
static bool
is_loaded_soon (const SysprofSampler *self)
{
  struct pollfd loaded = { .fd = sysprof_unwinder_get_loaded_fd (self->unwinder),
                           .events = POLLIN };

  return poll (&loaded, 1, LOAD_PATIENCE) > 0;
}

static void
rings_drained (int64_t until, void *data)
{
  SysprofSampler *self = data;

  sysprof_unwinder_note_drained (self->unwinder);
  if (tells_unwinder (self))
    sysprof_mapping_events_drained (until,
                                    sysprof_unwinder_get_mapping_events (self->unwinder));
}

/* --- the instrument --- */

static void
start_session (SysprofSampler *self, RecordingContext *context, PerfSession *session)
{
  PerfDecoder *decoder = sysprof_perf_session_get_decoder (session);
  ProcessLog *log = &context->process_log;

  log->is_tracked = true;
  sysprof_event_feed_start (&self->feed, context, session, LOST_SAMPLES);
  if (sysprof_perf_session_get_n_refused (session) > 0)
    {
      g_autofree char *missing = sysprof_privilege_describe_missing_perf (context->privilege);

      sysprof_context_report (
          context, "Sampler", false,
          "%u of the %u chosen threads belong to other users and are not sampled: %s",
          sysprof_perf_session_get_n_refused (session), self->request.session.n_tasks, missing);
    }
  tell_of_unwinder (self, context);
  if (self->request.has_user)
    self->filter = sysprof_user_filter_new (self->request.uid, context->privilege);
  decoder->filter = self->filter;
  self->tally = sysprof_stack_tally_new ();
  decoder->tally = self->tally;
  if (self->unwinder != NULL)
    {
      if (self->request.session.walker != NULL)
        context->unwinder = self->unwinder;
      decoder->take_unfinished = sysprof_unwinder_take_pending;
      decoder->take_data = self->unwinder;
      decoder->drained = rings_drained;
      decoder->drained_data = self;
      sysprof_unwinder_set_copy_budget (self->unwinder,
                                        sysprof_perf_session_get_ring_size (session) / 4 * 3);
      if (tells_unwinder (self))
        {
          decoder->tell = sysprof_mapping_events_add;
          decoder->tell_data = sysprof_unwinder_get_mapping_events (self->unwinder);
        }
      sysprof_pump_add_tick (context->pump, FINISHED_INTERVAL, write_finished_tick, self);
      if (self->request.session.walker != NULL && self->request.session.walker->fd < 0)
        {
          self->loaded_fd = sysprof_unwinder_get_loaded_fd (self->unwinder);
          sysprof_pump_watch_fd (context->pump, self->loaded_fd, program_loaded, self);
          if (is_loaded_soon (self))
            program_loaded (context, self->loaded_fd, self);
        }
    }
}

static gboolean
sysprof_sampler_prepare (SysprofInstrument *instrument,
                         RecordingContext *context,
                         GError **error)
{
  SysprofSampler *self = SYSPROF_SAMPLER (instrument);
  g_autofree char *other_clock = sysprof_privilege_describe_time_namespace ();
  g_autoptr (GError) local = NULL;
  PerfSession *session;

  /* A second sampler would count everything twice. */
  if (context->process_log.is_tracked)
    return TRUE;
  if (other_clock != NULL)
    {
      sysprof_context_report (context, "Sampler", true, "%s", other_clock);
      return TRUE;
    }

  if (!sysprof_sampling_request_resolve (&self->request, &self->options, context->privilege,
                                         &local))
    {
      sysprof_context_report (context, "Sampler", true, "%s", local->message);
      return TRUE;
    }

  respect_limits (self, context);
  if (self->request.processes != NULL)
    sysprof_process_log_set_only (&context->process_log,
                                  (const int32_t *) (void *) self->request.processes->data,
                                  self->request.processes->len);

  if (!prepare_ledger (self, &local) || !prepare_unwinder (self, context, &local))
    {
      sysprof_context_report (context, "Sampler", true, "%s", local->message);
      return TRUE;
    }

  session = open_session_with_unwinder (self, context, &local);
  if (session != NULL)
    start_session (self, context, session);
  else if (!g_error_matches (local, SYSPROF_ERROR, SYSPROF_ERROR_PEER_GONE))
    report_failure (self, context, local);

  watch_tasks (self, context);
  return TRUE;
}

static void
delay_tick (RecordingContext *context, int64_t now, void *data)
{
  SysprofSampler *self = data;

  if (now < context->begin + self->options.delay_nsec)
    return;

  if (self->feed.session != NULL)
    sysprof_perf_session_enable_samples (self->feed.session);
  sysprof_pump_remove_tick (context->pump, delay_tick, self);
}

static void
sysprof_sampler_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofSampler *self = SYSPROF_SAMPLER (instrument);

  if (self->feed.session == NULL)
    return;

  sysprof_perf_session_enable (self->feed.session);
  if (tells_unwinder (self))
    sysprof_unwinder_rely_on_pump (self->unwinder);
  write_method (self, context);
  write_events (self, context);
  if (self->options.delay_nsec > 0)
    sysprof_pump_add_tick (context->pump, self->options.delay_nsec, delay_tick, self);
}

static void
sysprof_sampler_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofSampler *self = SYSPROF_SAMPLER (instrument);

  bool is_loading = self->loaded_fd >= 0;

  context->unwinder = NULL;
  if (is_loading)
    sysprof_pump_unwatch_fd (context->pump, self->loaded_fd);
  self->loaded_fd = -1;
  if (self->unwinder != NULL && self->feed.session != NULL && !self->is_without_walks)
    finish_unwinder (self, context);
  sysprof_event_feed_stop (&self->feed);
  if (self->tally != NULL)
    {
      write_tally (self, context);
      finish_ledger (self, context);
    }
  g_clear_pointer (&self->tally, sysprof_stack_tally_free);
  /* else free it in finalize: that waits for the kernel, and meanwhile symbols can be
   * resolved */
  if (!is_loading)
    g_clear_pointer (&self->unwinder, sysprof_unwinder_free);
  g_clear_pointer (&self->filter, sysprof_user_filter_free);
}

static void
sysprof_sampler_finalize (GObject *object)
{
  SysprofSampler *self = SYSPROF_SAMPLER (object);

  for (guint i = 0; self->watched != NULL && i < self->watched->len; i++)
    sysprof_autofd_close (&g_array_index (self->watched, WatchedTask, i).fd);
  g_clear_pointer (&self->watched, g_array_unref);
  g_clear_pointer (&self->unwinder, sysprof_unwinder_free);
  if (self->has_asked_for_descriptors)
    sysprof_descriptor_limit_give_back (MOST_KEPT_FILES);
  g_clear_pointer (&self->tally, sysprof_stack_tally_free);
  g_clear_pointer (&self->ledger, sysprof_event_ledger_free);
  sysprof_sampling_request_clear (&self->request);
  g_free (self->why_not_better);
  g_free ((void *) self->options.pids);
  g_free ((void *) self->options.tids);
  g_free ((void *) self->options.cpus);
  g_free ((void *) self->options.cgroup);
  g_free ((void *) self->options.user);
  g_strfreev ((char **) self->options.events);
  G_OBJECT_CLASS (sysprof_sampler_parent_class)->finalize (object);
}

static void
sysprof_sampler_class_init (SysprofSamplerClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_sampler_finalize;

  klass->parent_class.name = "Sampler";
  klass->parent_class.opens_events = true;
  klass->parent_class.prepare = sysprof_sampler_prepare;
  klass->parent_class.record = sysprof_sampler_record;
  klass->parent_class.stop = sysprof_sampler_stop;
}

static void
sysprof_sampler_init (SysprofSampler *self)
{
  self->request.cgroup_fd = -1;
  self->loaded_fd = -1;
}

SysprofInstrument *
sysprof_sampler_new_with_options (const SamplerOptions *options)
{
  SysprofSampler *self = g_object_new (SYSPROF_TYPE_SAMPLER, NULL);

  self->options = *options;
  self->options.pids = g_memdup2 (options->pids, options->n_pids * sizeof *options->pids);
  self->options.tids = g_memdup2 (options->tids, options->n_tids * sizeof *options->tids);
  self->options.cpus = g_memdup2 (options->cpus, options->n_cpus * sizeof *options->cpus);
  self->options.cgroup = g_strdup (options->cgroup);
  self->options.user = g_strdup (options->user);
  self->options.events = (const char *const *) g_strdupv ((char **) options->events);
  return SYSPROF_INSTRUMENT (self);
}

SysprofInstrument *
sysprof_sampler_new (void)
{
  return sysprof_sampler_new_with_options (&(SamplerOptions){ 0 });
}
