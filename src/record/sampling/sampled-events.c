// SPDX-License-Identifier: GPL-3.0-or-later

/* The events and periods of samples: the embedded file of event names, and the ledger if
 * samples differ. */

#include "capture/capture.h"
#include "record/sampling/sampler-private.h"

#include <string.h>

static unsigned
count_events (const SysprofSampler *self)
{
  return 1 + self->request.session.n_further;
}

/* If samples have different events or periods, each sample must contain them. The BPF program
 * does not send them. FALSE with `error` if the user requested the program. */
bool
sysprof_sampler_prepare_ledger (SysprofSampler *self, GError **error)
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

void
sysprof_sampler_set_no_program_error (const SysprofSampler *self, GError **error)
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
void
sysprof_sampler_write_events (SysprofSampler *self, RecordingContext *context)
{
  g_autofree char *lines = sysprof_sampling_request_dup_events (&self->request);

  /* sysprof_context_add_file() counts a failure. */
  (void) sysprof_context_add_file (context, context->begin, -1, CAPTURE_EVENTS_FILE, lines,
                                   strlen (lines), false);
}

void
sysprof_sampler_finish_ledger (SysprofSampler *self, RecordingContext *context)
{
  if (self->ledger != NULL &&
      !sysprof_event_ledger_finish (self->ledger, context->writer, context->end))
    sysprof_context_add_lost (context, LOST_OTHERS, 1);
}
