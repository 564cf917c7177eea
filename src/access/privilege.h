// SPDX-License-Identifier: GPL-3.0-or-later

/* The only access to privileged operations: kernel events, the BPF stack walker, processes of
 * other users, kernel symbols, tracefs.
 *
 * Either this process performs an operation with its own privileges, or a privileged helper
 * performs it: at the other end of a socket (rights/rights.h), or, much less, the older service
 * (access/older-service.h). Callers cannot see which.
 * Descriptors belong to the caller and are close-on-exec. Failures return -1 and set errno.
 * *Guarded* by a lock: the threads that sample, that manage tables and that load the program
 * each wait for one reply, which takes the helper a few system calls. */

#pragma once

#include "access/older-service.h"
#include "bpf/bpf.h"
#include "rights/rights.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Privilege Privilege;

/* Uses the privileges of this process. */
Privilege *sysprof_privilege_new (void);
/* `socket` (borrowed, -1 = none) leads to a process that calls sysprof_rights_server_handle().
 * The helper performs what this process may not do itself. It opens all events and the walker,
 * because these belong together. */
Privilege *sysprof_privilege_new_for_helper (int socket);
/* The same for a Privilege that nobody has used yet. -1 = none. */
void sysprof_privilege_set_helper (Privilege *self, int socket);
/* The older service opens the events that this process may not open itself, and reads files.
 * Takes it. */
void sysprof_privilege_set_older_service (Privilege *self, OlderService *service);
bool sysprof_privilege_has_helper (const Privilege *self);
/* The limits of the older service and the remedy, as the end of a sentence; NULL if it is not
 * used. */
const char *sysprof_privilege_describe_older_service (const Privilege *self);
/* Whether this process may sample the whole machine without a helper. */
bool sysprof_privilege_may_sample_machine (void);
/* For tests: reads a file tree below `root` instead of this machine. Processes and machine
 * files are opened there. An event is the file "events/TYPE-CONFIG-CPU" (decimal numbers),
 * whose contents are what read() on the event returns. */
Privilege *sysprof_privilege_new_below (const char *root);
/* The root of that tree; "" = this machine. */
const char *sysprof_privilege_get_root (const Privilege *self);
Privilege *sysprof_privilege_ref (Privilege *self);
void sysprof_privilege_unref (Privilege *self);

/* perf_event_open(2); `pid` is a cgroup descriptor if `flags` contain PERF_FLAG_PID_CGROUP. */
int sysprof_privilege_open_event (Privilege *self,
                                  struct perf_event_attr *attr,
                                  pid_t pid,
                                  int cpu,
                                  unsigned long flags);

/* The directory /proc; its numeric entries are processes. */
int sysprof_privilege_open_processes (Privilege *self);

/* A file or directory in /proc or /sys that belongs to no process. */
int sysprof_privilege_open_machine_file (Privilege *self, const char *path);

/* The mounts of the machine. */
int sysprof_privilege_open_mounts (Privilege *self);

/* The file NAME below /proc/PID of a process or thread. "task" is a directory whose entries are
 * its threads. */
int sysprof_privilege_open_process_file (Privilege *self, pid_t pid, const char *name);

/* An envelope (util/children/opener.h) with the regular file of an executable mapping, even if
 * the file was deleted. Only requests it from the helper; a process that has the privileges
 * itself opens the file in a child (access/live-files.h). */
int sysprof_privilege_open_mapped_file (Privilege *self, const ExecutableMapping *mapping);

/* The BPF stack walker. Call sysprof_privilege_make_walker_maps() first, then, also on another
 * thread, sysprof_privilege_load_walker(). `most_addresses` 0 = as many as possible; `by_lists`
 * as in WalkProgramOptions. FALSE with errno. */
bool sysprof_privilege_make_walker_maps (Privilege *self, WalkProgram *program);
bool sysprof_privilege_load_walker (Privilege *self,
                                    uint32_t most_addresses,
                                    bool by_lists,
                                    WalkProgram *program);
int
sysprof_privilege_add_walker_slab (Privilege *self, const WalkProgram *program, uint32_t index);
/* Lets the program write output `index`, a WALK_OUTPUT_INDEX(), to the ring of `event_fd`.
 * FALSE with errno. */
bool sysprof_privilege_set_walker_output (Privilege *self,
                                          const WalkProgram *program,
                                          uint32_t index,
                                          int event_fd);

/* Loads the BPF program that watches the scheduler and unwinds with the tables of `maps`. FALSE
 * with errno. */
bool
sysprof_privilege_load_waits (Privilege *self, const WalkProgram *maps, WaitsProgram *program);

/* The inode that a link like "ns/mnt" of /proc/PID refers to, or 0. */
uint64_t sysprof_privilege_read_namespace (Privilege *self, pid_t pid, const char *name);

/* /proc/kallsyms with addresses; fails with ENODATA if the kernel hides them. */
int sysprof_privilege_open_kallsyms (Privilege *self);

/* PATH below the tracefs mount; mounts tracefs privately if it is not mounted. */
int sysprof_privilege_open_tracefs (Privilege *self, const char *path);

/* The file events/sched/sched_switch/format in tracefs. */
int sysprof_privilege_open_switch_format (Privilege *self);

/* The directory of a cgroup; `path` is absolute, or relative to the hierarchy that perf events
 * use. */
int sysprof_privilege_open_cgroup (Privilege *self, const char *path);

/* Which privilege is missing for sampling the whole system, in a complete sentence, and how to
 * grant it, one way per line. Later calls refer to the first, so call it to report the text.
 * *(full)* */
char *sysprof_privilege_describe_missing_perf (Privilege *self);

/* Why a recorder that runs as root cannot parse files of other users, and how to change that,
 * in complete sentences; NULL if it can. */
const char *sysprof_privilege_describe_missing_confinement (void);
/* Why nothing can be sampled in this process's time namespace; NULL if its clock is the
 * kernel's. *(full)* */
char *sysprof_privilege_describe_time_namespace (void);
