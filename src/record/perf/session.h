// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel events of a recording: one ring per CPU, and what writes to it.
 *
 * Every CPU has a *leader*, a dummy event that owns the ring and is waited for. All others of that CPU write into the
 * leader's ring. Who is sampled decides what they are:
 *
 *   whole system   the leader also tells of mappings, names, forks and exits; one sampling event per CPU
 *   a cgroup       the same, but the sampling events are of the cgroup
 *   tasks          the leader is of our own thread and tells nothing; per task and CPU one event that tells and
 *                  one that samples, both inherited by what the task starts; with a cgroup, samples of others are left out here
 *
 * Where a program in the kernel walks the stacks, it runs with each sampling event, which then writes no records of its
 * own; what it sends comes through one more event per CPU, into the same ring. Where we walk them, samples carry a copy, and
 * rings are larger.
 *
 * *Owned* by the pump thread. */

#pragma once

#include "bpf/bpf.h"
#include "record/perf/decode.h"
#include "record/perf/event-ledger.h"
#include "record/perf/ring.h"
#include "record/privilege.h"

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
  int cgroup_fd;      /* borrowed; -1 = none. Of tasks, only what runs in it is sampled */
  const pid_t *tasks; /* [n_tasks] thread ids */
  unsigned n_tasks;
  bool
      follows_forks; /* tasks: what they start belongs to them; else only their own new threads */
  bool follows_threads;
  const int *cpus; /* [n_cpus] where samples are taken; none = everywhere */
  unsigned n_cpus;
  bool samples; /* FALSE: only mappings, names, forks and exits */
  PerfEvent event;
  const PerfEvent *further; /* [n_further] that are sampled as well; then there is a ledger */
  unsigned n_further;
  EventLedger *
      ledger; /* samples say of which event they are, and its period; NULL = they do not. Borrowed */
  uint64_t frequency;  /* samples per second, where the event has no period */
  bool exclude_kernel; /* neither samples nor stacks of the kernel */
  bool exclude_user;
  bool exclude_kernel_stacks; /* samples, but not that part of their stacks */
  unsigned call_depth;        /* 0 = the kernel's limit */
  bool no_stacks;
  bool tells_at_once; /* wakes with every record; the rings are small */
  bool tells_inodes;  /* of mapped files, not the build IDs: the decoder's `tell` knows these */
  PerfRecordFunc func; /* takes the records instead of the decoder; NULL = none */
  void *func_data;
  /* Walks user stacks in the kernel; NULL = perf does. Borrowed. It may be loaded later, unless tasks are sampled. */
  const WalkProgram *walker;
  uint32_t
      stack_size; /* bytes of each user stack that come with the sample, to be walked by us; 0 = none */
  /* Samples have these parts alone, and nothing else is told: `func` takes them. 0 = those that the decoder knows. */
  uint64_t bare_sample_type;
  /* No samples: `func` takes what `walker` reports of files without a table, with the parts of `bare_sample_type`. */
  bool reports_unknown_files;
  bool delayed; /* sampling waits for sysprof_perf_session_enable_samples() */
} PerfSessionOptions;

/* An event is for tasks or for a cgroup. Where both are asked for, it is opened for the tasks, and samples name their cgroup. */
static inline bool
sysprof_perf_session_filters_cgroup (const PerfSessionOptions *options)
{
  return options->target == PERF_TARGET_TASKS && options->cgroup_fd >= 0;
}

/* Of tasks, no more is told than of these: nobody can rely on it. */
static inline bool
sysprof_perf_session_tells_inodes (const PerfSessionOptions *options)
{
  return options->tells_inodes && options->target != PERF_TARGET_TASKS;
}

typedef struct PerfSession PerfSession;

/* Opens events on all CPUs that are online; they record nothing yet. What `options` points to is copied. NULL with
 * `error`: its code is DENIED for missing rights, UNSUPPORTED when the machine does not have the event, PEER_GONE
 * when no task lives any more. */
PerfSession *sysprof_perf_session_open (const PerfSessionOptions *options,
                                        Privilege *privilege,
                                        GError **error);
void sysprof_perf_session_close (PerfSession *self);

/* Set what `decoder` needs before the first drain. */
PerfDecoder *sysprof_perf_session_get_decoder (PerfSession *self);

/* Bytes of each ring, at most. */
size_t sysprof_perf_session_get_ring_size (const PerfSession *self);

/* How many of the tasks are sampled in part or not at all for want of rights. */
unsigned sysprof_perf_session_get_n_refused (PerfSession *self);

/* Everything on, samples included unless they are delayed. */
void sysprof_perf_session_enable (PerfSession *self);
void sysprof_perf_session_enable_samples (PerfSession *self);
/* When the walker has been loaded: from now on it walks, while all events go on. FALSE: an event can have no program; then
 * `refusal` says the first, and whether others have one. What tasks have started before is not reached. */
typedef struct
{
  int cpu;
  int error; /* errno */
  bool is_partial;
} WalkerRefusal;

bool sysprof_perf_session_attach_walker (PerfSession *self, WalkerRefusal *refusal);
/* Everything off; what is in the rings stays. */
void sysprof_perf_session_disable (PerfSession *self);

/* Decodes what is in all rings. */
void sysprof_perf_session_drain (PerfSession *self);
/* Whether a record may have found no room since the last question: of that the kernel tells only when another one finds some. */
bool sysprof_perf_session_was_full (PerfSession *self);

/* Called for every leader that comes or goes: those that are there when it is set, too. */
typedef void (*PerfLeaderFunc) (int fd, bool is_added, void *data);
void sysprof_perf_session_set_leader_func (PerfSession *self, PerfLeaderFunc func, void *data);

/* Opens events on CPUs that came, closes those of CPUs that went. `online` is the kernel's list, "0-3,8". */
void sysprof_perf_session_update_cpus (PerfSession *self, const char *online);

/* Records that found no room in the rings since the session began. */
typedef struct
{
  uint64_t n_samples;
  uint64_t n_records; /* mappings, names, forks, exits */
} PerfLosses;

/* Reads the counts of the kernel, one system call per event. FALSE with `losses` unchanged if the kernel does not count them
 * (before Linux 6.0). */
bool sysprof_perf_session_count_losses (PerfSession *self, PerfLosses *losses);
