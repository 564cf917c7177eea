// SPDX-License-Identifier: GPL-3.0-or-later

/* Enables and reads the perf events that open-events.c opens. A CPU or a task can disappear at
 * any time; that must not end the session. */

#include "perf/session-private.h"

#include "access/access.h"
#include "perf/cpus.h"
#include "util/util.h"

#include <errno.h>
#include <string.h>
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

/* --- opening --- */

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

  if (number == EOPNOTSUPP &&
      sysprof_privilege_describe_older_service (self->privilege) != NULL)
    g_set_error (error, SYSPROF_ERROR, code,
                 "Cannot sample on '%s' with the older sysprofd of this machine, which knows "
                 "only periods. Give one of 100000 or more, as %s:1000000, or install the "
                 "newer sysprofd.",
                 name, name);
  else if (code == SYSPROF_ERROR_UNSUPPORTED)
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
      if (!sysprof_perf_session_open_cpu (self, g_array_index (online, int, i), &cpu) &&
          errno != ENODEV)
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
  self->cpus = g_ptr_array_new_with_free_func (sysprof_session_cpu_free);
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
          if (sysprof_perf_session_attach_walker_to (self, event->fd))
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
  if (!sysprof_perf_session_open_cpu (self, number, &cpu))
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
