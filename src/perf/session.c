// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens, enables and reads perf events. A CPU or a task can disappear at any time; that must
 * not end the session. */

#include "perf/session.h"

#include "access/access.h"
#include "perf/attributes.h"
#include "perf/cpus.h"
#include "util/util.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Room for one second of 10 kHz samples with deep stacks. With many CPUs the rings are
 * smaller. */
#define RING_SIZE       (2 * 1024 * 1024)
#define COPY_RING_SIZE  (8 * 1024 * 1024) /* half a second of 1 kHz with 16 KiB of stack each */
#define ALL_RINGS_SIZE  (128 * 1024 * 1024)
#define LEAST_RING_SIZE (256 * 1024)
/* Bytes of the largest mapping, name, fork or exit record, with the longest path. */
#define MOST_TELLING (8 * 1024)

typedef struct
{
  int fd;
  bool samples;
  bool is_walked; /* the walker must run at its samples */
} SessionEvent;

/* The events of one CPU. */
typedef struct
{
  int cpu;
  int leader_fd;
  PerfRing ring;
  ThrottledEvents throttled;
  GArray *events; /* of SessionEvent, without the leader */
} SessionCpu;

struct PerfSession
{
  PerfSessionOptions options;
  pid_t *tasks; /* a copy of options.tasks */
  PerfEvent *further;
  PerfEvent event_here; /* the event that is being opened, with the numbers for that CPU */
  int *sampled_cpus;
  Privilege *privilege;
  PerfAttributes attributes;
  GPtrArray *cpus; /* of SessionCpu */
  size_t ring_size;
  bool is_enabled;
  bool are_samples_enabled;
  unsigned n_repeats;          /* see repeat_enabling() */
  int64_t repeat_time;         /* g_get_monotonic_time() */
  unsigned long n_descriptors; /* requested from descriptor-limit.h */
  unsigned n_refused;          /* of the tasks: the largest number on any CPU */
  PerfLosses losses_of_closed; /* of events that have been closed */
  bool was_full;
  PerfDecoder decoder;
  PerfLeaderFunc leader_func;
  void *leader_data;
  uint8_t *scratch; /* [PERF_RECORD_MAX] */
};

static void
free_cpu (gpointer data)
{
  SessionCpu *cpu = data;

  for (guint i = 0; i < cpu->events->len; i++)
    (void) close (g_array_index (cpu->events, SessionEvent, i).fd);
  g_array_unref (cpu->events);
  sysprof_perf_ring_unmap (&cpu->ring);
  sysprof_autofd_close (&cpu->leader_fd);
  g_free (cpu);
}

/* --- opening --- */

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

/* Attaches the program to the samples of `fd` if it is loaded. */
static bool
attach_walker (PerfSession *self, int fd)
{
  return self->options.walker == NULL || self->options.walker->fd < 0 ||
         ioctl (fd, PERF_EVENT_IOC_SET_BPF, self->options.walker->fd) == 0;
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
  return attach_walker (self, fd);
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

static bool
open_cpu (PerfSession *self, int number, SessionCpu **opened)
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
  free_cpu (cpu);
  errno = saved;
  return false;
}

static const char *
advice_on (PerfSession *self, int number)
{
  if (number == EMFILE)
    return " Allow more with 'ulimit -n 65536', or name fewer threads.";
  if (number == EINVAL && sysprof_perf_session_filters_cgroup (&self->options))
    return " To record processes of one cgroup takes a kernel of version 5.7 with CONFIG_CGROUP_PERF: leave out the cgroup, or "
           "the processes.";
  return " 'dmesg' may say more.";
}

static void
set_open_error (PerfSession *self, GError **error)
{
  const char *name = self->options.samples ? self->attributes.event->name : "dummy";
  int code = SYSPROF_ERROR_FAILED;

  int number = errno;

  switch (number)
    {
    case EACCES:
    case EPERM:
      code = SYSPROF_ERROR_DENIED;
      break;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
    case ENOSYS:
      code = SYSPROF_ERROR_UNSUPPORTED;
      break;
    case ESRCH:
      code = SYSPROF_ERROR_PEER_GONE;
      break;
    default:
      break;
    }

  if (code == SYSPROF_ERROR_UNSUPPORTED)
    g_set_error (
        error, SYSPROF_ERROR, code,
        "Cannot sample on '%s': this machine does not count it (%s; a virtual machine often has no hardware counters).",
        name, g_strerror (number));
  else
    g_set_error (error, SYSPROF_ERROR, code, "Cannot open the event '%s': %s.%s", name,
                 g_strerror (number), advice_on (self, number));
}

/* The number of descriptors for all CPUs that can come online. */
static unsigned long
count_descriptors (const PerfSession *self, unsigned long n_cpus)
{
  const PerfSessionOptions *options = &self->options;
  unsigned long n_sampling = options->samples ? 1ul + options->n_further : 0;
  unsigned long n_own = 1ul + (options->walker != NULL); /* the leader; the walker's output */

  if (options->target == PERF_TARGET_TASKS)
    return n_cpus * (n_own + options->n_tasks * (1 + n_sampling));
  return n_cpus * (n_own + n_sampling);
}

static bool
open_all_cpus (PerfSession *self, GError **error)
{
  g_autoptr (GArray) online = sysprof_cpus_online ();

  self->ring_size = CLAMP (ALL_RINGS_SIZE / online->len, LEAST_RING_SIZE,
                           self->options.stack_size > 0 ? COPY_RING_SIZE : RING_SIZE);
  if (self->options.tells_at_once)
    self->ring_size =
        self->options.target == PERF_TARGET_TASKS ? LEAST_RING_SIZE / 4 : LEAST_RING_SIZE;
  if (self->options.reports_unknown_files)
    self->ring_size = (size_t) sysconf (_SC_PAGESIZE); /* the walker limits its reports */
  self->ring_size = (size_t) 1 << g_bit_nth_msf (self->ring_size, -1);
  self->attributes.ring_size = self->ring_size;
  self->n_descriptors = count_descriptors (
      self, MAX (online->len, (unsigned long) sysconf (_SC_NPROCESSORS_CONF)));
  sysprof_descriptor_limit_ask (self->n_descriptors);

  for (guint i = 0; i < online->len; i++)
    {
      SessionCpu *cpu;

      /* ENODEV: the CPU went offline since the list was read. */
      if (!open_cpu (self, g_array_index (online, int, i), &cpu) && errno != ENODEV)
        {
          set_open_error (self, error);
          return false;
        }
    }

  if (self->cpus->len > 0)
    return true;

  errno = ENODEV;
  set_open_error (self, error);
  return false;
}

PerfSession *
sysprof_perf_session_open (const PerfSessionOptions *options,
                           Privilege *privilege,
                           GError **error)
{
  PerfSession *self = g_new0 (PerfSession, 1);

  self->options = *options;
  self->tasks = g_memdup2 (options->tasks, options->n_tasks * sizeof *options->tasks);
  self->further = g_memdup2 (options->further, options->n_further * sizeof *options->further);
  self->sampled_cpus = g_memdup2 (options->cpus, options->n_cpus * sizeof *options->cpus);
  self->privilege = privilege;
  self->cpus = g_ptr_array_new_with_free_func (free_cpu);
  self->scratch = g_malloc (PERF_RECORD_MAX);
  sysprof_perf_attributes_init (&self->attributes, &self->options);

  self->decoder.ledger = options->ledger;
  self->decoder.has_chains = !options->no_stacks;
  self->decoder.has_walks = options->walker != NULL;
  self->decoder.has_copies = options->stack_size > 0;
  self->decoder.call_depth = options->call_depth;
  self->decoder.drops_chainless = options->exclude_kernel_stacks && !options->no_stacks;
  for (unsigned i = 0; i < MOST_EVENTS && i <= options->n_further; i++)
    self->decoder.nsec_per_sample[i] = sysprof_perf_attributes_get_nsec_per_sample (
        &self->attributes, i == 0 ? &self->options.event : &self->further[i - 1]);

  if (sysprof_perf_session_filters_cgroup (options))
    self->decoder.cgroups = sysprof_cgroup_filter_new (options->cgroup_fd);

  if (!open_all_cpus (self, error))
    {
      sysprof_perf_session_close (self);
      return NULL;
    }
  return self;
}

void
sysprof_perf_session_close (PerfSession *self)
{
  if (self == NULL)
    return;

  g_ptr_array_unref (self->cpus);
  sysprof_descriptor_limit_give_back (self->n_descriptors);
  sysprof_cgroup_filter_free (self->decoder.cgroups);
  g_free (self->tasks);
  g_free (self->further);
  g_free (self->sampled_cpus);
  g_free (self->scratch);
  g_free (self);
}

unsigned
sysprof_perf_session_get_n_refused (PerfSession *self)
{
  return self->n_refused;
}

size_t
sysprof_perf_session_get_ring_size (const PerfSession *self)
{
  return self->ring_size;
}

PerfDecoder *
sysprof_perf_session_get_decoder (PerfSession *self)
{
  return &self->decoder;
}

/* --- enabling and disabling --- */

/* Enabling is repeated for tasks. If a thread starts another thread while its events are being
 * enabled, the new thread can inherit disabled copies: the kernel enables the thread's own
 * events before it lists the copy. When the two threads follow each other on a CPU, the kernel
 * swaps their events, so the first thread can end up without enabled events, too. This was seen
 * for one of forty threads that constantly start others. Enabling an enabled event has no
 * effect. */
#define ENABLE_REPEATS  10
#define REPEAT_INTERVAL (20 * G_TIME_SPAN_MILLISECOND)

static void
plan_repeats (PerfSession *self)
{
  self->n_repeats = self->options.target == PERF_TARGET_TASKS ? ENABLE_REPEATS : 0;
  self->repeat_time = g_get_monotonic_time () + REPEAT_INTERVAL;
}

static void
switch_cpu (SessionCpu *cpu, bool samples, unsigned long request)
{
  for (guint i = 0; i < cpu->events->len; i++)
    {
      SessionEvent *event = &g_array_index (cpu->events, SessionEvent, i);

      if (event->samples == samples)
        (void) ioctl (event->fd, request, 0); /* fails only if `fd` is not an event */
    }

  if (!samples)
    (void) ioctl (cpu->leader_fd, request, 0);
}

void
sysprof_perf_session_enable_samples (PerfSession *self)
{
  self->are_samples_enabled = true;
  plan_repeats (self);
  for (guint i = 0; i < self->cpus->len; i++)
    switch_cpu (g_ptr_array_index (self->cpus, i), true, PERF_EVENT_IOC_ENABLE);
}

void
sysprof_perf_session_enable (PerfSession *self)
{
  self->is_enabled = true;
  plan_repeats (self);
  for (guint i = 0; i < self->cpus->len; i++)
    switch_cpu (g_ptr_array_index (self->cpus, i), false, PERF_EVENT_IOC_ENABLE);
  if (!self->options.delayed)
    sysprof_perf_session_enable_samples (self);
}

void
sysprof_perf_session_disable (PerfSession *self)
{
  self->is_enabled = false;
  self->are_samples_enabled = false;
  self->n_repeats = 0;
  for (guint i = 0; i < self->cpus->len; i++)
    {
      switch_cpu (g_ptr_array_index (self->cpus, i), true, PERF_EVENT_IOC_DISABLE);
      switch_cpu (g_ptr_array_index (self->cpus, i), false, PERF_EVENT_IOC_DISABLE);
    }
}

bool
sysprof_perf_session_attach_walker (PerfSession *self, WalkerRefusal *refusal)
{
  bool is_refused = false;
  unsigned n_attached = 0;

  for (guint i = 0; i < self->cpus->len; i++)
    {
      SessionCpu *cpu = g_ptr_array_index (self->cpus, i);

      for (guint j = 0; j < cpu->events->len; j++)
        {
          SessionEvent *event = &g_array_index (cpu->events, SessionEvent, j);

          if (!event->is_walked)
            continue;
          if (attach_walker (self, event->fd))
            n_attached++;
          else if (!is_refused)
            {
              *refusal = (WalkerRefusal){ .cpu = cpu->cpu, .error = errno };
              is_refused = true;
            }
        }
    }

  if (is_refused)
    refusal->is_partial = n_attached > 0;
  return !is_refused;
}

/* --- reading --- */

static void
drain_cpu (PerfSession *self, SessionCpu *cpu)
{
  self->decoder.cpu = cpu->cpu;
  self->decoder.throttled = &cpu->throttled;
  self->was_full |= sysprof_perf_ring_get_fill (&cpu->ring) + MOST_TELLING > cpu->ring.size;
  if (!sysprof_perf_ring_drain (
          &cpu->ring, self->scratch,
          self->options.func != NULL ? self->options.func : sysprof_perf_decode,
          self->options.func != NULL ? self->options.func_data : &self->decoder))
    self->decoder.n_dropped_records++;
}

static void
repeat_enabling (PerfSession *self)
{
  int64_t begin, took;

  if (self->n_repeats == 0 || g_get_monotonic_time () < self->repeat_time)
    return;

  self->n_repeats--;
  begin = g_get_monotonic_time ();
  for (guint i = 0; i < self->cpus->len; i++)
    {
      SessionCpu *cpu = g_ptr_array_index (self->cpus, i);

      if (self->is_enabled)
        switch_cpu (cpu, false, PERF_EVENT_IOC_ENABLE);
      if (self->are_samples_enabled)
        switch_cpu (cpu, true, PERF_EVENT_IOC_ENABLE);
    }

  /* With thousands of threads on many CPUs, one round takes long and rings fill meanwhile. */
  took = g_get_monotonic_time () - begin;
  self->repeat_time = begin + took + MAX (REPEAT_INTERVAL, 10 * took);
}

void
sysprof_perf_session_drain (PerfSession *self)
{
  repeat_enabling (self);
  for (guint i = 0; i < self->cpus->len; i++)
    drain_cpu (self, g_ptr_array_index (self->cpus, i));
}

bool
sysprof_perf_session_was_full (PerfSession *self)
{
  bool was_full = self->was_full;

  self->was_full = false;
  return was_full;
}

/* --- CPU hotplug --- */

void
sysprof_perf_session_set_leader_func (PerfSession *self, PerfLeaderFunc func, void *data)
{
  self->leader_func = func;
  self->leader_data = data;
  for (guint i = 0; i < self->cpus->len; i++)
    func (((SessionCpu *) g_ptr_array_index (self->cpus, i))->leader_fd, true, data);
}

static uint64_t
read_n_lost (int fd)
{
  uint64_t value_and_lost[2] = { 0, 0 };

  return read (fd, value_and_lost, sizeof value_and_lost) == sizeof value_and_lost
             ? value_and_lost[1]
             : 0;
}

static void
add_losses (SessionCpu *cpu, PerfLosses *losses)
{
  losses->n_records += read_n_lost (cpu->leader_fd);
  for (guint i = 0; i < cpu->events->len; i++)
    {
      SessionEvent *event = &g_array_index (cpu->events, SessionEvent, i);
      uint64_t n = read_n_lost (event->fd);

      if (event->samples)
        losses->n_samples += n;
      else
        losses->n_records += n;
    }
}

static void
remove_cpu (PerfSession *self, guint i)
{
  SessionCpu *cpu = g_ptr_array_index (self->cpus, i);

  drain_cpu (self, cpu);
  if (sysprof_perf_attributes_counts_losses (&self->attributes))
    add_losses (cpu, &self->losses_of_closed);
  if (self->leader_func != NULL)
    self->leader_func (cpu->leader_fd, false, self->leader_data);
  g_ptr_array_remove_index (self->cpus, i);
}

static bool
has_number (GArray *numbers, int number)
{
  for (guint i = 0; i < numbers->len; i++)
    if (g_array_index (numbers, int, i) == number)
      return true;
  return false;
}

static bool
has_cpu (PerfSession *self, int number)
{
  for (guint i = 0; i < self->cpus->len; i++)
    if (((SessionCpu *) g_ptr_array_index (self->cpus, i))->cpu == number)
      return true;
  return false;
}

static void
add_cpu (PerfSession *self, int number)
{
  SessionCpu *cpu;

  /* The CPU may be offline again. If so, the next update tries again. */
  if (!open_cpu (self, number, &cpu))
    {
      g_debug ("No events on CPU %d: %s", number, g_strerror (errno));
      return;
    }

  if (self->is_enabled)
    switch_cpu (cpu, false, PERF_EVENT_IOC_ENABLE);
  if (self->are_samples_enabled)
    switch_cpu (cpu, true, PERF_EVENT_IOC_ENABLE);
  if (self->is_enabled || self->are_samples_enabled)
    plan_repeats (self);
  if (self->leader_func != NULL)
    self->leader_func (cpu->leader_fd, true, self->leader_data);
}

void
sysprof_perf_session_update_cpus (PerfSession *self, const char *online)
{
  g_autoptr (GArray) now = sysprof_cpus_parse (online);

  if (now->len == 0)
    return;

  for (guint i = self->cpus->len; i > 0; i--)
    if (!has_number (now, ((SessionCpu *) g_ptr_array_index (self->cpus, i - 1))->cpu))
      remove_cpu (self, i - 1);

  for (guint i = 0; i < now->len; i++)
    if (!has_cpu (self, g_array_index (now, int, i)))
      add_cpu (self, g_array_index (now, int, i));
}

bool
sysprof_perf_session_count_losses (PerfSession *self, PerfLosses *losses)
{
  if (!sysprof_perf_attributes_counts_losses (&self->attributes))
    return false;

  *losses = self->losses_of_closed;
  for (guint i = 0; i < self->cpus->len; i++)
    add_losses (g_ptr_array_index (self->cpus, i), losses);
  return true;
}
