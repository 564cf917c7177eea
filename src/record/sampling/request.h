// SPDX-License-Identifier: GPL-3.0-or-later

/* Resolves what the user wants to sample (processes, threads, cgroup, user, CPUs and events) on
 * this machine. */

#pragma once

#include "perf/perf.h"
#include "record/record.h"

typedef struct
{
  PerfSessionOptions session; /* points into the other members */
  GArray *tasks;              /* of pid_t: threads to sample; NULL = not by task */
  /* Of pid_t: the processes and threads that the user named; NULL = none. */
  GArray *watched;
  GArray *processes; /* of int32_t: the processes they belong to; NULL = all */
  /* Of PerfEvent: events that the user named after the first; NULL = none. */
  GArray *further;
  int cgroup_fd;
  bool has_user;
  uid_t uid;
  bool has_event; /* the user named events, so there is no fallback */
} SamplingRequest;

/* FALSE with `error` if something that the user named does not exist. Clear `self` in either
 * case. */
bool sysprof_sampling_request_resolve (SamplingRequest *self,
                                       const SamplerOptions *options,
                                       Privilege *privilege,
                                       GError **error);
/* Returns the lines of CAPTURE_EVENTS_FILE. *(full)* */
char *sysprof_sampling_request_dup_events (const SamplingRequest *self);
void sysprof_sampling_request_clear (SamplingRequest *self);

/* Samples the tasks of user `uid` instead of the system. */
void
sysprof_sampling_request_narrow_to_own (SamplingRequest *self, Privilege *privilege, uid_t uid);
