// SPDX-License-Identifier: GPL-3.0-or-later

/* Samples stacks of the whole system or of chosen processes with kernel events.
 *
 * A request that is impossible ends the recording, for example a process that does not exist or
 * an event that the machine does not have. */

#include "access/access.h"
#include "record/sampling/sampler-private.h"
#include "util/util.h"

#define MAX_FREQUENCY_PATH  "/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_CALL_DEPTH_PATH "/proc/sys/kernel/perf_event_max_stack"

SYSPROF_DEFINE_INSTRUMENT (SysprofSampler, sysprof_sampler)

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

  if (!g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_DENIED))
    {
      sysprof_context_report (context, "Sampler", true, "%s", error->message);
      return;
    }

  missing = sysprof_privilege_describe_missing_perf (context->privilege);
  sysprof_context_report (context, "Sampler", false, "No samples are taken: %s", missing);
}

static void
start_session (SysprofSampler *self, RecordingContext *context, PerfSession *session)
{
  PerfDecoder *decoder = sysprof_perf_session_get_decoder (session);
  ProcessLog *log = &context->process_log;

  log->is_tracked = true;
  sysprof_event_feed_start (&self->feed, context, session, LOST_SAMPLES);
  /* is_narrowed: it has been reported that only threads of this user are sampled */
  if (sysprof_perf_session_get_n_refused (session) > 0 &&
      (!self->is_narrowed || self->options.n_pids + self->options.n_tids > 0))
    {
      g_autofree char *missing = sysprof_privilege_describe_missing_perf (context->privilege);

      sysprof_context_report (
          context, "Sampler", false,
          "%u of the %u chosen threads belong to other users and are not sampled: %s",
          sysprof_perf_session_get_n_refused (session), self->request.session.n_tasks, missing);
    }
  if (self->request.has_user)
    self->filter = sysprof_user_filter_new (self->request.uid, context->privilege);
  decoder->filter = self->filter;
  self->tally = sysprof_stack_tally_new ();
  decoder->tally = self->tally;
  sysprof_stack_method_attach (self, context, session);
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

  if (!sysprof_sampler_prepare_ledger (self, &local))
    {
      sysprof_context_report (context, "Sampler", true, "%s", local->message);
      return TRUE;
    }

  session = sysprof_stack_methods_open (self, context, &local);
  if (session != NULL)
    start_session (self, context, session);
  else if (local != NULL && !g_error_matches (local, SYSPROF_ERROR, SYSPROF_ERROR_PEER_GONE))
    report_failure (self, context, local);

  sysprof_sampler_watch_tasks (self, context);
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
  if (sysprof_sampler_feeds_unwinder (self))
    sysprof_unwinder_rely_on_pump (self->unwinder);
  sysprof_stack_method_write (self, context);
  sysprof_sampler_write_events (self, context);
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
  if (self->unwinder != NULL && self->feed.session != NULL &&
      self->method != STACKS_BY_FRAME_POINTERS)
    sysprof_sampler_finish_unwinder (self, context);
  sysprof_event_feed_stop (&self->feed);
  if (self->tally != NULL)
    {
      sysprof_sampler_write_tally (self, context);
      sysprof_sampler_finish_ledger (self, context);
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

  sysprof_sampler_forget_tasks (self);
  g_clear_pointer (&self->unwinder, sysprof_unwinder_free);
  if (self->has_reserved_descriptors)
    sysprof_descriptor_limit_give_back (MOST_PINNED_FILES);
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

gboolean
sysprof_sampler_has_copies (void)
{
  return PERF_COPY_REGISTERS != 0;
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
