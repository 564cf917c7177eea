// SPDX-License-Identifier: GPL-3.0-or-later

/* The ways of taking stacks, as rows of a table that are tried in order: the BPF program
 * unwinds with tables, the unwinder unwinds copies of stacks, or the kernel unwinds by frame
 * pointers. */

#include "access/access.h"
#include "record/clock.h"
#include "record/sampling/sampler-private.h"
#include "util/util.h"

#include <poll.h>

/* how often samples finished by the unwinder are written */
#define FINISHED_INTERVAL (200 * NSEC_PER_MSEC)
/* limit of the wait for the tables of running programs; until then their stack copies are
 * queued */
#define MOST_WAITING_MSEC 250
#define MOST_LOADING_MSEC 100

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

  if (!self->has_reserved_descriptors)
    sysprof_descriptor_limit_ask (MOST_PINNED_FILES);
  self->has_reserved_descriptors = true;
  sysprof_unwinder_keep_files (self->unwinder, MOST_PINNED_FILES);
}

static bool
prepare_tables (SysprofSampler *self, RecordingContext *context, GError **error)
{
  const GArray *processes = self->request.processes;

  if (self->ledger != NULL || self->request.session.event.type == PERF_TYPE_TRACEPOINT)
    {
      sysprof_sampler_set_no_program_error (self, error);
      if (self->options.unwind == UNWIND_TABLES)
        g_prefix_error (error, "Cannot use --unwind tables: ");
      return false;
    }

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
 * start_copies() provides when the events are open. */
static bool
prepare_copies (SysprofSampler *self, RecordingContext *context, GError **error)
{
  self->unwinder = sysprof_unwinder_new_for_copies (context->privilege, error);
  if (self->unwinder == NULL)
    return false;

  keep_files (self, context);
  self->request.session.stack_size = self->options.stack_size > 0
                                         ? MIN (self->options.stack_size, PERF_COPY_MOST_SIZE)
                                         : PERF_COPY_SIZE;
  return true;
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
start_copies (SysprofSampler *self,
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
    return is_last ? sysprof_sampler_open_session (self, context, error) : session;

  sysprof_perf_session_close (session);
  return NULL;
}

static void
explain_copies (SysprofSampler *self, RecordingContext *context, const char *why)
{
  /* Users without the privilege to sample everything have been informed, and that message
   * covers this, too. */
  if (!self->is_narrowed)
    sysprof_context_report (
        context, "Sampler", false,
        "Stacks are unwound from copies of %u bytes, which costs more and truncates deeper "
        "stacks: %s",
        self->request.session.stack_size, why);
}

static void
explain_frame_pointers (SysprofSampler *self, RecordingContext *context, const char *why)
{
  sysprof_context_report (context, "Sampler", false,
                          "Stacks of programs without frame pointers are truncated: %s", why);
}

/* A way of taking stacks. */
typedef struct
{
  const char *name; /* in the capture */
  /* Makes what the method needs before the events are opened. FALSE with `error` if the method
   * is unavailable; NULL = nothing is needed. */
  bool (*prepare) (SysprofSampler *self, RecordingContext *context, GError **error);
  /* Starts the method for the opened events: takes ownership of `session`, and returns one that
   * is ready, or NULL with `error`. NULL = nothing is needed. */
  PerfSession *(*start) (SysprofSampler *self,
                         RecordingContext *context,
                         PerfSession *session,
                         GError **error);
  /* Reports the disadvantages of the method; `why` the better ones are unavailable. */
  void (*explain_unavailable) (SysprofSampler *self,
                               RecordingContext *context,
                               const char *why);
} StackMethod;

/* The best one first. */
static const StackMethod methods[] = {
  [STACKS_BY_TABLES] = { .name = "tables", .prepare = prepare_tables },
  [STACKS_BY_COPIES] = { .name = "copy",
                         .prepare = prepare_copies,
                         .start = start_copies,
                         .explain_unavailable = explain_copies },
  [STACKS_BY_FRAME_POINTERS] = { .name = "frame-pointer",
                                 .explain_unavailable = explain_frame_pointers },
  [STACKS_NONE] = { .name = "none" },
};

void
sysprof_stack_method_write (SysprofSampler *self, RecordingContext *context)
{
  (void) sysprof_capture_writer_add_metadata (context->writer, context->begin, -1, -1,
                                              "org.gnome.sysprof.unwind",
                                              methods[self->method].name, -1);
}

bool
sysprof_sampler_feeds_unwinder (const SysprofSampler *self)
{
  return self->unwinder != NULL && sysprof_perf_session_tells_inodes (&self->request.session);
}

/* Nothing has been unwound yet: from here on this is a recording by frame pointers. The
 * unwinder continues if it finds build IDs, or makes tables for the off-CPU instrument. An
 * off-CPU instrument that is prepared later has its own tables. */
static void
continue_by_frame_pointers (SysprofSampler *self, RecordingContext *context, const char *why)
{
  PerfDecoder *decoder = sysprof_perf_session_get_decoder (self->feed.session);
  UnwinderStatus status;

  decoder->take_unfinished = NULL;
  decoder->has_walks = false;
  if (!sysprof_sampler_feeds_unwinder (self) && !sysprof_unwinder_is_widened (self->unwinder))
    {
      context->unwinder = NULL;
      sysprof_unwinder_stop (self->unwinder, &status);
    }
  self->method = STACKS_BY_FRAME_POINTERS;
  sysprof_stack_method_write (self, context);
  explain_frame_pointers (self, context, why);
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
    continue_by_frame_pointers (self, context, why);
}

static void
program_loaded (RecordingContext *context, int fd, void *data)
{
  SysprofSampler *self = data;
  g_autoptr (GError) error = NULL;

  sysprof_pump_unwatch_fd (context->pump, fd);
  self->loaded_fd = -1;
  if (!sysprof_unwinder_finish_loading (self->unwinder, &error))
    continue_by_frame_pointers (self, context, error->message);
  else
    attach_program (self, context);
}

static void
write_finished_tick (RecordingContext *context, int64_t now, void *data)
{
  SysprofSampler *self = data;

  if (self->unwinder != NULL && self->feed.session != NULL)
    sysprof_unwinder_write_finished (self->unwinder,
                                     sysprof_perf_session_get_decoder (self->feed.session));
}

/* Waiting a moment for the program avoids stacks by frame pointers. On a busy machine loading
 * may take longer; the recording then starts without it. */
static bool
is_loaded_soon (const SysprofSampler *self)
{
  struct pollfd loaded = { .fd = sysprof_unwinder_get_loaded_fd (self->unwinder),
                           .events = POLLIN };

  return poll (&loaded, 1, MOST_LOADING_MSEC) > 0;
}

static void
rings_drained (int64_t until, void *data)
{
  SysprofSampler *self = data;

  sysprof_unwinder_note_drained (self->unwinder);
  if (sysprof_sampler_feeds_unwinder (self))
    sysprof_mapping_events_drained (until,
                                    sysprof_unwinder_get_mapping_events (self->unwinder));
}

void
sysprof_stack_method_attach (SysprofSampler *self,
                             RecordingContext *context,
                             PerfSession *session)
{
  PerfDecoder *decoder = sysprof_perf_session_get_decoder (session);

  if (self->why_not_better != NULL && methods[self->method].explain_unavailable != NULL)
    methods[self->method].explain_unavailable (self, context, self->why_not_better);
  if (self->unwinder == NULL)
    return;

  if (self->request.session.walker != NULL)
    context->unwinder = self->unwinder;
  decoder->take_unfinished = sysprof_unwinder_take_pending;
  decoder->take_data = self->unwinder;
  decoder->drained = rings_drained;
  decoder->drained_data = self;
  sysprof_unwinder_set_copy_budget (self->unwinder,
                                    sysprof_perf_session_get_ring_size (session) / 4 * 3);
  if (sysprof_sampler_feeds_unwinder (self))
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

/* Sets the first and the last method that may be tried. The older service samples the whole
 * machine only by frame pointers; with the other methods the sampling would be narrowed. */
static void
choose_methods (SysprofSampler *self,
                const Privilege *privilege,
                StackMethodId *first,
                StackMethodId *last)
{
  const char *older = sysprof_privilege_describe_older_service (privilege);
  static const StackMethodId requested[] = {
    [UNWIND_FRAME_POINTER] = STACKS_BY_FRAME_POINTERS,
    [UNWIND_TABLES] = STACKS_BY_TABLES,
    [UNWIND_COPY] = STACKS_BY_COPIES,
  };

  if (self->options.no_stacks)
    *first = *last = STACKS_NONE;
  else if (self->options.kernel_only)
    *first = *last = STACKS_BY_FRAME_POINTERS;
  else if (self->options.unwind != UNWIND_AUTO)
    *first = *last = requested[self->options.unwind];
  else if (older != NULL && self->request.session.target == PERF_TARGET_SYSTEM)
    {
      *first = *last = STACKS_BY_FRAME_POINTERS;
      self->why_not_better = g_strdup (older);
    }
  else
    {
      *first = STACKS_BY_TABLES;
      *last = STACKS_BY_FRAME_POINTERS;
    }
}

static void
undo_prepare (SysprofSampler *self)
{
  self->request.session.walker = NULL;
  self->request.session.tells_inodes = false;
  self->request.session.stack_size = 0;
  g_clear_pointer (&self->unwinder, sysprof_unwinder_free);
}

PerfSession *
sysprof_stack_methods_open (SysprofSampler *self, RecordingContext *context, GError **error)
{
  StackMethodId last;

  for (choose_methods (self, context->privilege, &self->method, &last);; self->method++)
    {
      const StackMethod *method = &methods[self->method];
      g_autoptr (GError) why = NULL;
      bool is_prepared = method->prepare == NULL || method->prepare (self, context, &why);
      PerfSession *session =
          is_prepared ? sysprof_sampler_open_session (self, context, &why) : NULL;

      if (session != NULL && method->start != NULL)
        session = method->start (self, context, session, &why);
      if (session != NULL)
        return session;

      if (self->method == last && is_prepared)
        g_propagate_error (error, g_steal_pointer (&why));
      else if (self->method == last)
        sysprof_context_report (context, "Sampler", true, "%s", why->message);
      if (self->method == last)
        return NULL;

      undo_prepare (self);
      g_free (self->why_not_better);
      self->why_not_better = g_strdup (why->message);
    }
}
