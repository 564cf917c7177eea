// SPDX-License-Identifier: GPL-3.0-or-later

/* Every error must name the option's value and what the user can do. */

#include "record/sampling/request.h"

#include "access/access.h"
#include "perf/perf.h"
#include "util/util.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>

#define DEFAULT_FREQUENCY 1000 /* Hz */

/* An ID can be named twice, and a thread can belong to a process that is named as well. Each is
 * sampled once. */
static void
remove_duplicates (GArray *ids)
{
  for (guint i = ids->len; i > 0; i--)
    for (guint j = 0; j + 1 < i; j++)
      if (g_array_index (ids, pid_t, j) == g_array_index (ids, pid_t, i - 1))
        {
          g_array_remove_index (ids, i - 1);
          break;
        }
}

static bool
add_process (SamplingRequest *self, Privilege *privilege, pid_t pid, GError **error)
{
  if (pid <= 0 || !sysprof_tasks_append_threads (self->tasks, privilege, pid))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_PEER_GONE,
          "Cannot record process %d: there is no such process. 'ps -e' lists those there are.",
          pid);
      return false;
    }

  g_array_append_val (self->watched, pid);
  g_array_append_val (self->processes, pid);
  return true;
}

static bool
add_thread (SamplingRequest *self, Privilege *privilege, pid_t tid, GError **error)
{
  int32_t pid = tid > 0 ? sysprof_tasks_find_process (privilege, tid) : 0;

  if (pid == 0)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_PEER_GONE,
          "Cannot record thread %d: there is no such thread. 'ps -eL' lists those there are.",
          tid);
      return false;
    }

  g_array_append_val (self->tasks, tid);
  g_array_append_val (self->watched, tid);
  g_array_append_val (self->processes, pid);
  return true;
}

static bool
resolve_tasks (SamplingRequest *self,
               const SamplerOptions *options,
               Privilege *privilege,
               GError **error)
{
  if (options->n_pids == 0 && options->n_tids == 0)
    return true;

  self->tasks = g_array_new (false, false, sizeof (pid_t));
  self->watched = g_array_new (false, false, sizeof (pid_t));
  self->processes = g_array_new (false, false, sizeof (int32_t));

  for (guint i = 0; i < options->n_pids; i++)
    if (!add_process (self, privilege, options->pids[i], error))
      return false;
  for (guint i = 0; i < options->n_tids; i++)
    if (!add_thread (self, privilege, options->tids[i], error))
      return false;

  remove_duplicates (self->tasks);
  remove_duplicates (self->processes);
  self->session.target = PERF_TARGET_TASKS;
  self->session.follows_forks = !options->no_follow_forks;
  self->session.follows_threads = options->n_pids > 0;
  return true;
}

static bool
resolve_cgroup (SamplingRequest *self,
                const SamplerOptions *options,
                Privilege *privilege,
                GError **error)
{
  if (options->cgroup == NULL)
    return true;

  self->cgroup_fd = sysprof_privilege_open_cgroup (privilege, options->cgroup);
  if (self->cgroup_fd < 0)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot record the cgroup '%s': %s. Give its path below the cgroup mount, as "
          "'systemd-cgls' and /proc/PID/cgroup show it.",
          options->cgroup, g_strerror (errno));
      return false;
    }

  if (self->tasks == NULL)
    self->session.target = PERF_TARGET_CGROUP;
  self->session.cgroup_fd = self->cgroup_fd;
  return true;
}

static bool
resolve_user (SamplingRequest *self, const SamplerOptions *options, GError **error)
{
  Text digits;
  uint64_t number;
  struct passwd *entry;

  if (options->user == NULL)
    return true;

  self->has_user = true;
  digits = sysprof_text_from_string (options->user);
  if (sysprof_text_u64 (&digits, &number) && sysprof_text_size (digits) == 0 &&
      number < G_MAXUINT32)
    {
      self->uid = (uid_t) number;
      return true;
    }

  entry = getpwnam (options->user);
  if (entry == NULL)
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "Cannot record user '%s': there is no such user. Give a login name or a number.",
          options->user);
      return false;
    }

  self->uid = entry->pw_uid;
  return true;
}

static bool
check_cpus (const SamplerOptions *options, GError **error)
{
  g_autoptr (GArray) online = sysprof_cpus_online ();

  for (guint i = 0; i < options->n_cpus; i++)
    {
      bool is_online = false;

      for (guint j = 0; j < online->len; j++)
        is_online |= g_array_index (online, int, j) == options->cpus[i];
      if (is_online)
        continue;

      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "Cannot record CPU %d: it is not online here. " CPUS_ONLINE_PATH
                   " lists those that are.",
                   options->cpus[i]);
      return false;
    }
  return true;
}

static bool
has_event_named (const SamplingRequest *self, const char *name)
{
  if (g_str_equal (self->session.event.name, name))
    return true;
  for (guint i = 0; i < self->further->len; i++)
    if (g_str_equal (g_array_index (self->further, PerfEvent, i).name, name))
      return true;
  return false;
}

static bool
resolve_events (SamplingRequest *self,
                const SamplerOptions *options,
                Privilege *privilege,
                GError **error)
{
  if (!self->has_event)
    {
      sysprof_perf_event_init_cycles (&self->session.event);
      return true;
    }

  if (!sysprof_perf_event_parse (&self->session.event, options->events[0], privilege, error))
    return false;

  self->further = g_array_new (false, false, sizeof (PerfEvent));
  for (guint i = 1; options->events[i] != NULL; i++)
    {
      PerfEvent event;

      if (i == MOST_EVENTS)
        {
          g_set_error (
              error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
              "Cannot sample on '%s' as well: a recording has at most %d events. Name fewer.",
              options->events[i], MOST_EVENTS);
          return false;
        }
      if (!sysprof_perf_event_parse (&event, options->events[i], privilege, error))
        return false;
      if (has_event_named (self, event.name))
        {
          g_set_error (
              error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
              "Cannot sample on '%s' as well: '%s' is named before, and nobody could tell "
              "their samples apart. Name it once.",
              options->events[i], event.name);
          return false;
        }
      g_array_append_val (self->further, event);
    }
  self->session.further = (const PerfEvent *) (void *) self->further->data;
  self->session.n_further = self->further->len;
  return true;
}

bool
sysprof_sampling_request_resolve (SamplingRequest *self,
                                  const SamplerOptions *options,
                                  Privilege *privilege,
                                  GError **error)
{
  *self = (SamplingRequest){
    .cgroup_fd = -1,
    .has_event = options->events != NULL && options->events[0] != NULL,
    .session = {
      .target = PERF_TARGET_SYSTEM,
      .cgroup_fd = -1,
      .cpus = options->cpus,
      .n_cpus = options->n_cpus,
      .samples = true,
      .frequency = options->frequency != 0 ? options->frequency : DEFAULT_FREQUENCY,
      .exclude_user = options->kernel_only,
      .exclude_kernel = options->user_only && options->no_stacks,
      .exclude_kernel_stacks = options->user_only,
      .call_depth = options->call_depth,
      .no_stacks = options->no_stacks,
      .delayed = options->delay_nsec > 0,
    },
  };

  if (!resolve_tasks (self, options, privilege, error) ||
      !resolve_cgroup (self, options, privilege, error) ||
      !resolve_user (self, options, error) || !check_cpus (options, error))
    return false;

  if (self->tasks != NULL)
    {
      self->session.tasks = (const pid_t *) (void *) self->tasks->data;
      self->session.n_tasks = self->tasks->len;
    }

  return resolve_events (self, options, privilege, error);
}

void
sysprof_sampling_request_clear (SamplingRequest *self)
{
  g_clear_pointer (&self->tasks, g_array_unref);
  g_clear_pointer (&self->watched, g_array_unref);
  g_clear_pointer (&self->processes, g_array_unref);
  g_clear_pointer (&self->further, g_array_unref);
  sysprof_autofd_close (&self->cgroup_fd);
  self->cgroup_fd = -1;
}

void
sysprof_sampling_request_narrow_to_own (SamplingRequest *self, Privilege *privilege, uid_t uid)
{
  self->tasks = g_array_new (false, false, sizeof (pid_t));
  sysprof_tasks_append_of_user (self->tasks, privilege, uid);

  self->session.target = PERF_TARGET_TASKS;
  self->session.follows_forks = true;
  self->session.tasks = (const pid_t *) (void *) self->tasks->data;
  self->session.n_tasks = self->tasks->len;
}

static void
append_event (GString *lines, unsigned number, const PerfEvent *event, unsigned frequency)
{
  uint64_t period = sysprof_perf_event_get_period (event, frequency);

  g_string_append_printf (lines, "%u %s ", number, event->is_clock ? "ns" : "count");
  if (period > 0)
    g_string_append_printf (lines, "%" G_GUINT64_FORMAT, period);
  else
    g_string_append_printf (lines, "-@%u", frequency);
  g_string_append_printf (lines, " %s\n", event->name);
}

char *
sysprof_sampling_request_dup_events (const SamplingRequest *self)
{
  const PerfSessionOptions *session = &self->session;
  GString *lines = g_string_new (NULL);

  for (unsigned i = 0; i <= session->n_further; i++)
    {
      const PerfEvent *event = i == 0 ? &session->event : &session->further[i - 1];

      append_event (lines, i, event, session->frequency);
    }
  return g_string_free (lines, FALSE);
}
