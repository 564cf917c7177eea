// SPDX-License-Identifier: GPL-3.0-or-later

/* The one door to what needs rights: kernel events, the program that walks stacks, other people's processes, kernel symbols,
 * tracefs.
 *
 * Who asks never knows how it was answered: this process does it with the rights that it has, or a privileged one does
 * it at the other end of a socket (rights/rights.h). Descriptors are the caller's and close-on-exec; failures are -1 with errno
 * set. *Guarded* by its lock, as the threads that sample, that see to tables and that load the program have one answer each to wait
 * for; which takes the server a few system calls. */

#pragma once

#include "bpf/bpf.h"
#include "rights/rights.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Privilege Privilege;

/* With the rights that this process has. */
Privilege *sysprof_privilege_new (void);
/* `socket` (borrowed, -1 = none) is one at whose other end sysprof_rights_server_handle() answers: what this process may
 * not do itself is asked of it, and all that belongs together, which is events and the walker. */
Privilege *sysprof_privilege_new_for_helper (int socket);
/* Of a machine that is a tree of files below `root`, as tests have them: processes and the machine's files are opened there, and
 * an event is the file "events/TYPE-CONFIG-CPU" (numbers in decimal), which reads as one would. */
Privilege *sysprof_privilege_new_below (const char *root);
/* That tree; "" = this machine. */
const char *sysprof_privilege_get_root (const Privilege *self);
Privilege *sysprof_privilege_ref (Privilege *self);
void sysprof_privilege_unref (Privilege *self);

/* perf_event_open(2); `pid` is a cgroup's descriptor where `flags` say so. */
int sysprof_privilege_open_event (Privilege *self,
                                  struct perf_event_attr *attr,
                                  pid_t pid,
                                  int cpu,
                                  unsigned long flags);

/* /proc as a directory: its entries that are numbers are processes. */
int sysprof_privilege_open_processes (Privilege *self);

/* A file or directory of /proc or /sys that belongs to no process. */
int sysprof_privilege_open_machine_file (Privilege *self, const char *path);

/* The mounts of the machine. */
int sysprof_privilege_open_mounts (Privilege *self);

/* A file of a process or thread: NAME below /proc/PID. "task" is a directory, whose entries are its threads. */
int sysprof_privilege_open_process_file (Privilege *self, pid_t pid, const char *name);

/* Asks only who lends rights, as who has them opens it in a child (record/live-files.h): an envelope (util/opener.h) with the regular
 * file behind an executable mapping of a process, also where it was deleted. */
int sysprof_privilege_open_mapped_file (Privilege *self, const ExecutableMapping *mapping);

/* The walker in the kernel: sysprof_walk_program_make_maps(), then, also on another thread, sysprof_walk_program_load();
 * `most_addresses` 0 = as many as it can; `by_lists` as of WalkProgramOptions. FALSE with errno. */
bool sysprof_privilege_make_walker_maps (Privilege *self, WalkProgram *program);
bool sysprof_privilege_load_walker (Privilege *self,
                                    uint32_t most_addresses,
                                    bool by_lists,
                                    WalkProgram *program);
int
sysprof_privilege_add_walker_slab (Privilege *self, const WalkProgram *program, uint32_t index);
/* The program writes output `index`, a WALK_OUTPUT_INDEX(), to the ring of `event_fd`. FALSE with errno. */
bool sysprof_privilege_set_walker_output (Privilege *self,
                                          const WalkProgram *program,
                                          uint32_t index,
                                          int event_fd);

/* What watches the scheduler, walking with the tables of `maps`. FALSE with errno. */
bool
sysprof_privilege_load_waits (Privilege *self, const WalkProgram *maps, WaitsProgram *program);

/* The inode behind a link like "ns/mnt" of /proc/PID, or 0. */
uint64_t sysprof_privilege_read_namespace (Privilege *self, pid_t pid, const char *name);

/* /proc/kallsyms with addresses; ENODATA where the kernel hides them. */
int sysprof_privilege_open_kallsyms (Privilege *self);

/* PATH below the mount of tracefs, which is made for us alone where there is none. */
int sysprof_privilege_open_tracefs (Privilege *self, const char *path);

/* events/sched/sched_switch/format there. */
int sysprof_privilege_open_switch_format (Privilege *self);

/* The directory of a cgroup (absolute, or below the mount of the hierarchy that perf events follow). */
int sysprof_privilege_open_cgroup (Privilege *self, const char *path);

/* What is missing for sampling the whole system and how it can be granted, in whole sentences. *(full)* */
char *sysprof_privilege_describe_missing_perf (Privilege *self);

/* Why a recorder that runs as root can parse no files of other users, and how to change that, in whole sentences; NULL if it can. */
const char *sysprof_privilege_describe_missing_confinement (void);
/* Why nothing can be sampled in this process's time namespace; NULL where its clock is the kernel's. *(full)* */
char *sysprof_privilege_describe_time_namespace (void);
