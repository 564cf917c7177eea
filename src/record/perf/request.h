// SPDX-License-Identifier: GPL-3.0-or-later

/* What a person asked to be sampled, looked up on this machine. */

#pragma once

#include "record/perf/session.h"
#include "record/record.h"

typedef struct
{
  PerfSessionOptions session; /* points into the rest */
  GArray *tasks;              /* of pid_t: threads to sample; NULL = not by task */
  GArray *watched;            /* of pid_t: processes and threads that were named; NULL = none */
  GArray *processes;          /* of int32_t: the processes they belong to; NULL = all */
  GArray *further; /* of PerfEvent: those that were named besides the first; NULL = none */
  int cgroup_fd;
  bool has_user;
  uid_t uid;
  bool has_event; /* it was named: no other will do */
} SamplingRequest;

/* FALSE with `error` when something that was asked for is not there. Clear it either way. */
bool sysprof_sampling_request_resolve (SamplingRequest *self,
                                       const SamplerOptions *options,
                                       Privilege *privilege,
                                       GError **error);
/* The lines of CAPTURE_EVENTS_FILE; `each_says`: every sample says its period. *(full)* */
char *sysprof_sampling_request_dup_events (const SamplingRequest *self, bool each_says);
void sysprof_sampling_request_clear (SamplingRequest *self);

/* Samples the tasks of user `uid` instead of the system. */
void
sysprof_sampling_request_narrow_to_own (SamplingRequest *self, Privilege *privilege, uid_t uid);
