// SPDX-License-Identifier: GPL-3.0-or-later

/* Decides whether the recording includes a thread: by process or thread ID, by user, by
 * cgroup, and by CPU. */

#pragma once

#include "bpf/waits/state.h"

/* Long loops use bpf_loop(), so that the verifier follows their body once. It would follow each
 * turn of a plain loop, in each of the programs, which takes longer than a short recording. */
typedef struct
{
  const WaitsControl *control;
  uint32_t pid;
  uint32_t tid;
  uint32_t is_found;
} IdSearch;

static long
compare_id (uint32_t i, IdSearch *search)
{
  const WaitsControl *control = search->control;

  if (i >= WAITS_MOST_IDS)
    return 1;
  if (control->id[i] != (i < control->n_pids ? search->pid : search->tid))
    return 0;
  search->is_found = 1;
  return 1;
}

__noinline int
waits_has_id (const WaitsControl *control, uint32_t pid, uint32_t tid)
{
  IdSearch search = { control, pid, tid, 0 };

  if (control == 0)
    return 0;
  bpf_loop (control->n_ids, compare_id, &search, 0);
  return search.is_found != 0;
}

/* Kernels built without CONFIG_CGROUP_PERF do not have this enum value, and refuse programs
 * that use it. */
static __always_inline bool
has_groups (void)
{
  return bpf_core_field_exists (struct task_struct, cgroups) &&
         bpf_core_enum_value_exists (enum cgroup_subsys_id, perf_event_cgrp_id);
}

/* The cgroup of a task in the hierarchy that perf events use. It is read with a helper: the
 * verifier may search all types of the kernel by name, for a millisecond, for each pointer that
 * a program loads from a task. */
static __always_inline uint64_t
group_of (struct task_struct *task)
{
  struct css_set *set;
  uint64_t group = 0;

  if (!has_groups ())
    return 0;
  set = BPF_CORE_READ (task, cgroups);
  bpf_probe_read_kernel (
      &group, sizeof group,
      (const uint8_t *) set + bpf_core_field_offset (struct css_set, subsys) +
          bpf_core_enum_value (enum cgroup_subsys_id, perf_event_cgrp_id) * sizeof group);
  return group;
}

__noinline int
waits_is_in_group (uint64_t address, uint64_t wanted)
{
  struct cgroup_subsys_state *group = (struct cgroup_subsys_state *) address;

  for (uint32_t i = 0; i < MOST_CGROUPS && group != 0; i++)
    {
      if (BPF_CORE_READ (group, cgroup, kn, id) == wanted)
        return 1;
      group = BPF_CORE_READ (group, parent);
    }
  return 0;
}

static __always_inline bool
is_wanted (const WaitsControl *control, ThreadState *state, struct task_struct *task)
{
  uint64_t group = 0;
  uint32_t uid = 0;

  if (control->n_ids == 0 && !control->has_user && control->cgroup == 0)
    return true;
  if (state->inherited == UNDECIDED)
    state->inherited = control->n_ids == 0 || waits_has_id (control, (uint32_t) task->tgid,
                                                            (uint32_t) task->pid)
                           ? WANTED
                           : UNWANTED;
  if (state->inherited == UNWANTED)
    return false;

  if (control->has_user)
    uid = BPF_CORE_READ (task, real_cred, euid.val);
  if (control->cgroup != 0)
    group = group_of (task);
  if (state->wanted == UNDECIDED || state->group != group || state->uid != uid)
    {
      state->group = group;
      state->uid = uid;
      state->wanted =
          (!control->has_user || uid == control->uid) &&
                  (control->cgroup == 0 || waits_is_in_group (group, control->cgroup) != 0)
              ? WANTED
              : UNWANTED;
    }
  return state->wanted == WANTED;
}

static __always_inline bool
is_wanted_cpu (const WaitsControl *control, uint32_t cpu)
{
  return !control->has_cpus || control->cpu[cpu & (WAITS_MOST_CPUS - 1)] != 0;
}
