// SPDX-License-Identifier: GPL-3.0-or-later

/* The state of a session, shared by session.c and open-events.c. */

#pragma once

#include "perf/attributes.h"
#include "perf/session.h"

#include <sys/ioctl.h>

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

/* Attaches the program to the samples of `fd` if it is loaded. */
static inline bool
sysprof_perf_session_attach_walker_to (PerfSession *self, int fd)
{
  return self->options.walker == NULL || self->options.walker->fd < 0 ||
         ioctl (fd, PERF_EVENT_IOC_SET_BPF, self->options.walker->fd) == 0;
}

/* Opens all events on the CPU `number`, disabled. FALSE with errno, and then `attributes`
 * describes the event that failed. */
bool sysprof_perf_session_open_cpu (PerfSession *self, int number, SessionCpu **opened);

/* Closes the CPU's events; `data` is a SessionCpu. */
void sysprof_session_cpu_free (void *data);
