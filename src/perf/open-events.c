// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens the perf events of a session on one CPU: a leader with the ring, the sampling events,
 * which can belong to tasks or to a cgroup, and the event that transports the walker's
 * output. */

#include "perf/session-private.h"

#include "access/access.h"
#include "util/util.h"

#include <errno.h>
#include <unistd.h>

void
sysprof_session_cpu_free (void *data)
{
  SessionCpu *cpu = data;

  for (guint i = 0; i < cpu->events->len; i++)
    (void) close (g_array_index (cpu->events, SessionEvent, i).fd);
  g_array_unref (cpu->events);
  sysprof_perf_ring_unmap (&cpu->ring);
  sysprof_autofd_close (&cpu->leader_fd);
  g_free (cpu);
}

/* Older kernels refuse unknown features. The function drops one feature after another, and
 * later events do not use them either. */
static int
open_event (PerfSession *self, PerfRole role, pid_t pid, int cpu, unsigned long flags)
{
  PerfAttributes attributes = self->attributes;

  for (;;)
    {
      struct perf_event_attr attr;
      int fd;

      sysprof_perf_attributes_fill (&attributes, role, &attr);
      fd = sysprof_privilege_open_event (self->privilege, &attr, pid, cpu, flags);
      if (fd >= 0)
        {
          self->attributes = attributes;
          return fd;
        }

      if (errno == EACCES && attr.namespaces &&
          sysprof_perf_attributes_reduce_rights (&attributes))
        continue;
      if (errno != EINVAL || !sysprof_perf_attributes_reduce (&attributes))
        return -1;
    }
}

static bool
is_sampled_cpu (PerfSession *self, int cpu)
{
  if (!self->options.samples)
    return false;

  for (unsigned i = 0; i < self->options.n_cpus; i++)
    if (self->sampled_cpus[i] == cpu)
      return true;
  return self->options.n_cpus == 0;
}

/* Takes ownership of `fd` and lets it write into the leader's ring. */
static bool
add_event (SessionCpu *cpu, int fd, bool samples)
{
  SessionEvent event = { .fd = fd, .samples = samples };

  if (ioctl (fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->leader_fd) != 0)
    {
      int saved = errno;

      (void) close (fd);
      errno = saved;
      return false;
    }

  g_array_append_val (cpu->events, event);
  return true;
}

/* Opens the event that transports the walker's output on this CPU. */
static bool
open_walks_event (PerfSession *self, SessionCpu *cpu)
{
  bool reports = self->options.reports_unknown_files;
  WalkOutput output = reports ? WALK_OUTPUT_UNKNOWN_FILES : WALK_OUTPUT_STACKS;
  int fd;

  if (self->options.walker == NULL || (!reports && !is_sampled_cpu (self, cpu->cpu)))
    return true;

  fd = open_event (self, PERF_ROLE_WALKS, -1, cpu->cpu, 0);
  return fd >= 0 && add_event (cpu, fd, true) &&
         sysprof_privilege_set_walker_output (self->privilege, self->options.walker,
                                              WALK_OUTPUT_INDEX (cpu->cpu, output), fd);
}

static bool
add_sampling_event (PerfSession *self, SessionCpu *cpu, int fd)
{
  if (fd < 0 || !add_event (cpu, fd, true))
    return false;

  g_array_index (cpu->events, SessionEvent, cpu->events->len - 1).is_walked = true;
  return sysprof_perf_session_attach_walker_to (self, fd);
}

static bool
tell_ledger (PerfSession *self, int fd, unsigned event)
{
  uint64_t id;

  if (self->options.ledger == NULL)
    return true;
  if (ioctl (fd, PERF_EVENT_IOC_ID, &id) != 0)
    return false;

  sysprof_event_ledger_add_id (self->options.ledger, id, event);
  return true;
}

/* Opens all sampling events. On failure, `attributes` still describes the event that failed. */
static bool
open_sampling_events (PerfSession *self,
                      SessionCpu *cpu,
                      PerfRole role,
                      pid_t pid,
                      unsigned long flags)
{
  for (unsigned i = 0; i <= self->options.n_further; i++)
    {
      const PerfEvent *event = i == 0 ? &self->options.event : &self->further[i - 1];
      int fd;

      self->attributes.event = &self->event_here;
      if (!sysprof_perf_event_for_cpu (event, cpu->cpu, &self->event_here))
        continue;

      fd = open_event (self, role, pid, cpu->cpu, flags);
      if (!add_sampling_event (self, cpu, fd) || !tell_ledger (self, fd, i))
        return false;
    }
  return true;
}

static bool
open_system_event (PerfSession *self, SessionCpu *cpu)
{
  bool is_cgroup = self->options.target == PERF_TARGET_CGROUP;

  return !is_sampled_cpu (self, cpu->cpu) ||
         open_sampling_events (self, cpu, PERF_ROLE_SAMPLE,
                               is_cgroup ? self->options.cgroup_fd : -1,
                               is_cgroup ? PERF_FLAG_PID_CGROUP : 0);
}

/* FALSE with errno if no task's events could be opened. ESRCH, for an exited task, is reported
 * only if no task had another error, and the refusal of a task only if sampling failed for no
 * other task. */
static bool
open_task_events (PerfSession *self, SessionCpu *cpu)
{
  bool samples = is_sampled_cpu (self, cpu->cpu);
  int reason = ESRCH;
  unsigned n_refused = 0;
  bool any = false;

  for (unsigned i = 0; i < self->options.n_tasks; i++)
    {
      /* Two events instead of one: one event would count lost samples and lost mappings
       * together. */
      int fd = open_event (self, PERF_ROLE_TELL, self->tasks[i], cpu->cpu, 0);
      bool is_open = fd >= 0 && add_event (cpu, fd, false);

      if (is_open && samples)
        is_open = open_sampling_events (self, cpu, PERF_ROLE_SAMPLE, self->tasks[i], 0);
      if (is_open)
        any = true;
      else if (errno != ESRCH)
        {
          /* A task that refuses every event does not explain why sampling failed for others. */
          if (fd >= 0 || reason == ESRCH)
            reason = errno;
          n_refused += errno == EACCES || errno == EPERM;
        }
    }
  self->n_refused = MAX (self->n_refused, n_refused);

  errno = reason;
  return any;
}

bool
sysprof_perf_session_open_cpu (PerfSession *self, int number, SessionCpu **opened)
{
  SessionCpu *cpu = g_new0 (SessionCpu, 1);
  bool by_task = self->options.target == PERF_TARGET_TASKS;
  bool tells_nothing = by_task || self->options.bare_sample_type != 0;
  bool is_open;
  int saved;

  cpu->cpu = number;
  cpu->events = g_array_new (false, false, sizeof (SessionEvent));
  cpu->leader_fd = open_event (self, tells_nothing ? PERF_ROLE_RING : PERF_ROLE_LEAD_AND_TELL,
                               by_task ? 0 : -1, number, 0);
  is_open = cpu->leader_fd >= 0 &&
            sysprof_perf_ring_map (&cpu->ring, cpu->leader_fd, self->ring_size) &&
            open_walks_event (self, cpu) &&
            (by_task ? open_task_events (self, cpu) : open_system_event (self, cpu));
  if (is_open)
    {
      g_ptr_array_add (self->cpus, cpu);
      *opened = cpu;
      return true;
    }

  saved = errno;
  sysprof_session_cpu_free (cpu);
  errno = saved;
  return false;
}
