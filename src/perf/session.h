// SPDX-License-Identifier: GPL-3.0-or-later

/* The perf events of a recording: one ring per CPU, and the events that write to it.
 *
 * Every CPU has a *leader*, a dummy event that owns the ring and is polled. All other events of
 * that CPU write into the leader's ring. The target determines the events:
 *
 *   whole system   the leader also records mappings, names, forks and exits; one sampling
 *                  event per CPU
 *   a cgroup       the same, but the sampling events are limited to the cgroup
 *   tasks          the leader belongs to this thread and records nothing; per task and CPU, one
 *                  event records mappings, names, forks and exits, and one samples; children
 *                  inherit both. With a cgroup, the decoder drops samples of other cgroups
 *
 * If the BPF walker unwinds the stacks, it runs at each sample, and the sampling event itself
 * writes no record. One more event per CPU transports the walker's output into the same ring.
 * If this process unwinds, samples carry a stack copy, and the rings are larger.
 *
 * *Owned* by the pump thread. */

#pragma once

#include "access/access.h"
#include "bpf/bpf.h"
#include "perf/decode.h"
#include "perf/event-ledger.h"
#include "perf/ring.h"

#include <glib.h>

typedef enum
{
  PERF_TARGET_SYSTEM,
  PERF_TARGET_CGROUP,
  PERF_TARGET_TASKS,
} PerfTarget;

typedef struct PerfSessionOptions
{
  PerfTarget target;
  /* Borrowed; -1 = none. For tasks: sample them only while they are in this cgroup. */
  int cgroup_fd;
  const pid_t *tasks; /* [n_tasks] thread IDs */
  unsigned n_tasks;
  /* For tasks: sample also the processes that they fork; otherwise only their new threads. */
  bool follows_forks;
  bool follows_threads;
  const int *cpus; /* [n_cpus] CPUs to sample; none = all */
  unsigned n_cpus;
  bool samples; /* FALSE: record only mappings, names, forks and exits */
  PerfEvent event;
  /* [n_further] events to sample on besides `event`; they need a ledger. */
  const PerfEvent *further;
  unsigned n_further;
  /* Samples contain their event's ID and period; NULL = they do not. Borrowed. */
  EventLedger *ledger;
  uint64_t frequency;  /* samples per second, for events without a period */
  bool exclude_kernel; /* no samples in the kernel, and no kernel part of stacks */
  bool exclude_user;
  bool exclude_kernel_stacks; /* samples in the kernel, but no kernel part of stacks */
  unsigned call_depth;        /* 0 = the kernel's limit */
  bool no_stacks;
  bool tells_at_once; /* wake the reader at every record; the rings are small */
  /* Mappings contain inodes instead of build IDs; the decoder's `tell` returns build IDs. */
  bool tells_inodes;
  PerfRecordFunc func; /* takes the records instead of the decoder; NULL = the decoder */
  void *func_data;
  /* Unwinds user stacks in the kernel; NULL = perf does. Borrowed. It may be loaded later,
   * unless the target is tasks. */
  const WalkProgram *walker;
  /* Bytes of user stack to copy into each sample, for unwinding in this process; 0 = none. */
  uint32_t stack_size;
  /* The sample type, instead of the decoder's. Only samples are recorded, and `func` must take
   * them. 0 = the decoder's. */
  uint64_t bare_sample_type;
  /* Take no samples. `func` takes the walker's reports of files without a table, in the layout
   * of `bare_sample_type`. */
  bool reports_unknown_files;
  bool delayed; /* sampling starts with sysprof_perf_session_enable_samples() */
} PerfSessionOptions;

/* Whether the decoder filters cgroups. An event can be limited to tasks or to a cgroup. If both
 * are requested, it is limited to the tasks, and samples contain their cgroup. */
static inline bool
sysprof_perf_session_filters_cgroup (const PerfSessionOptions *options)
{
  return options->target == PERF_TARGET_TASKS && options->cgroup_fd >= 0;
}

/* A session for tasks never records inodes, because its mappings cover only these tasks and so
 * the unwinder cannot rely on them. */
static inline bool
sysprof_perf_session_tells_inodes (const PerfSessionOptions *options)
{
  return options->tells_inodes && options->target != PERF_TARGET_TASKS;
}

typedef struct PerfSession PerfSession;

/* Opens the events on all online CPUs; they are disabled at first. The arrays in `options` are
 * copied. Returns NULL with `error`. Codes: DENIED for missing privileges, UNSUPPORTED if the
 * machine does not have the event, PEER_GONE if all tasks have exited. */
PerfSession *sysprof_perf_session_open (const PerfSessionOptions *options,
                                        Privilege *privilege,
                                        GError **error);
void sysprof_perf_session_close (PerfSession *self);

/* Set the members that `decoder` needs before the first drain. */
PerfDecoder *sysprof_perf_session_get_decoder (PerfSession *self);

/* Largest size of each ring, in bytes. */
size_t sysprof_perf_session_get_ring_size (const PerfSession *self);

/* Number of tasks that are not or only partly sampled because privileges are missing. */
unsigned sysprof_perf_session_get_n_refused (PerfSession *self);

/* Enables all events; sampling events only if they are not delayed. */
void sysprof_perf_session_enable (PerfSession *self);
void sysprof_perf_session_enable_samples (PerfSession *self);
/* Attaches the walker when it has been loaded; events stay enabled. FALSE: an event does not
 * accept a program. Then `refusal` describes the first such event and whether others accepted
 * it. Processes that tasks have forked before are not covered. */
typedef struct
{
  int cpu;
  int error; /* errno */
  bool is_partial;
} WalkerRefusal;

bool sysprof_perf_session_attach_walker (PerfSession *self, WalkerRefusal *refusal);
/* Disables all events; records in the rings stay. */
void sysprof_perf_session_disable (PerfSession *self);

/* Passes all records in the rings to the decoder or to `func`. */
void sysprof_perf_session_drain (PerfSession *self);
/* Whether a ring has been full since the last call, so that records may have been dropped. The
 * kernel reports dropped records only with the next record that fits. */
bool sysprof_perf_session_was_full (PerfSession *self);

/* Called for every leader that is added or removed, and for existing leaders when the function
 * is set. */
typedef void (*PerfLeaderFunc) (int fd, bool is_added, void *data);
void sysprof_perf_session_set_leader_func (PerfSession *self, PerfLeaderFunc func, void *data);

/* Opens events on new CPUs and closes those of removed CPUs. `online` is the kernel's list,
 * such as "0-3,8". */
void sysprof_perf_session_update_cpus (PerfSession *self, const char *online);

/* Records that did not fit into the rings since the start of the session. */
typedef struct
{
  uint64_t n_samples;
  uint64_t n_records; /* mappings, names, forks, exits */
} PerfLosses;

/* Reads the kernel's counts, with one system call per event. FALSE with `losses` unchanged if
 * the kernel does not count them (before Linux 6.0). */
bool sysprof_perf_session_count_losses (PerfSession *self, PerfLosses *losses);
