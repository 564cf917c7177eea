// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens the events of the sampler with the available privileges. If privileges are missing, the
 * recording is narrowed step by step, and the user is informed:
 *
 *   everything ─▶ our own processes ─▶ their user code ─▶ no samples */

#include "record/sampling/sampler-private.h"

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

PerfSession *
sysprof_sampler_open_session (SysprofSampler *self, RecordingContext *context, GError **error)
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
