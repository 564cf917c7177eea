// SPDX-License-Identifier: GPL-3.0-or-later

/* rights: what of a recording needs rights, and how one who has them lends them to a recorder who has none. Plain C and libbpf,
 * small enough for a privileged process: nothing here reads a byte that a stranger made.
 *
 *   open.c     the things themselves: each is one or two system calls, with the rights of whoever calls
 *   message.h  a request is numbers, and at most one descriptor; so is its answer
 *   check.c    which events are opened for others
 *   server.c   the privileged side of a socket: checks a request, does it, passes the descriptor back
 *   client.c   the recorder's side
 *
 *   RightsServer server;                            in the parent, which has authorized the peer
 *   sysprof_rights_server_init (&server);
 *   while (sysprof_rights_server_handle (&server, socket))
 *     continue;
 *   sysprof_rights_server_clear (&server);
 *
 * The socket, of type SEQPACKET, is worth a recording of the whole machine: who holds its other end may sample everybody. */

#pragma once

#include "bpf/bpf.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* --- with one's own rights --- */

/* Descriptors are the caller's and close-on-exec; failures are -1 with errno. */

int sysprof_rights_open_event (struct perf_event_attr *attr,
                               pid_t pid,
                               int cpu,
                               unsigned long flags);

/* Files of /proc/PID; others are not opened for anybody else. */
typedef enum
{
  PROCESS_CGROUP,
  PROCESS_CMDLINE,
  PROCESS_COMM,
  PROCESS_MAPS,
  PROCESS_MOUNTINFO,
  PROCESS_STATUS,
  N_PROCESS_FILES
} ProcessFile;

/* N_PROCESS_FILES: none is called that. */
ProcessFile sysprof_rights_find_process_file (const char *name);
int sysprof_rights_open_process_file (pid_t pid, ProcessFile file);

/* An executable mapping of a file, as the kernel tells of it. */
typedef struct
{
  int32_t pid;
  uint32_t device_major;
  uint32_t device_minor;
  uint64_t inode;
  uint64_t start;
  uint64_t end;
} ExecutableMapping;

/* The file itself, for reading, also where it was deleted; ESTALE unless exactly that is mapped there, executable, and is a
 * regular file. */
int sysprof_rights_open_mapped_file (const ExecutableMapping *mapping);

typedef enum
{
  PROCESS_NS_CGROUP,
  PROCESS_NS_IPC,
  PROCESS_NS_MNT,
  PROCESS_NS_NET,
  PROCESS_NS_PID,
  PROCESS_NS_TIME,
  PROCESS_NS_USER,
  PROCESS_NS_UTS,
  N_PROCESS_NS
} ProcessNamespace;

/* N_PROCESS_NS: none is called that. */
ProcessNamespace sysprof_rights_find_namespace (const char *name);
/* Its inode; 0 where it may not be known. */
uint64_t sysprof_rights_read_namespace (pid_t pid, ProcessNamespace which);

int sysprof_rights_open_kallsyms (void);

/* Whether events of that type are of a device that counts the processor's energy. */
bool sysprof_rights_counts_energy (uint32_t type);

/* The directory of tracefs, which is mounted for this descriptor alone where it is mounted nowhere. */
int sysprof_rights_open_tracefs (void);
/* events/sched/sched_switch/format in it: how the kernel tells of switches. */
int sysprof_rights_open_switch_format (void);

/* --- lending them --- */

#define RIGHTS_MOST_EVENTS 65536u /* of one recording; then ENOSPC */
#define RIGHTS_MOST_LEFT \
  8u /* children that open a file of a file system that does not answer; then ETIMEDOUT */

/* One per socket, and one recording each: there is one walker, and each of its slabs is made once. *Owned* by one thread. */
typedef struct
{
  WalkProgram maps;
  uint64_t slabs_made; /* a bit each */
  uint32_t n_events;
  uint64_t
      switch_id; /* the tracepoint of which the raw part is given out; 0 = nobody has asked for its format */
  pid_t left[RIGHTS_MOST_LEFT]; /* killed, and maybe not ended yet; 0 = none */
  bool has_loaded;
  bool has_waits;
} RightsServer;

void sysprof_rights_server_init (RightsServer *self);
/* Waits for one request, and answers it. FALSE: the peer is gone, or does not keep to the protocol; the connection is to be
 * closed. */
bool sysprof_rights_server_handle (RightsServer *self, int socket);
void sysprof_rights_server_clear (RightsServer *self);

/* --- borrowing them --- */

/* All ask through `socket`, one at a time, and wait for the answer, which takes the server a few system calls. As the functions
 * above; EPIPE where the server is gone. */

/* `cgroup_fd` (borrowed, -1 = none) takes the place of `pid`. */
int sysprof_rights_ask_event (int socket,
                              const struct perf_event_attr *attr,
                              pid_t pid,
                              int cpu,
                              int cgroup_fd);
int sysprof_rights_ask_process_file (int socket, pid_t pid, ProcessFile file);
/* An envelope: a socket in which the file, with a byte, waits to be received. ETIMEDOUT: its file system has not answered for a second. */
int sysprof_rights_ask_mapped_file (int socket, const ExecutableMapping *mapping);
uint64_t sysprof_rights_ask_namespace (int socket, pid_t pid, ProcessNamespace which);
int sysprof_rights_ask_kallsyms (int socket);
/* From then on events of that tracepoint may have their raw part. */
int sysprof_rights_ask_switch_format (int socket);

/* Gives the index alone: the other maps stay with the server. */
bool sysprof_rights_ask_walker_maps (int socket, WalkProgram *program);
/* Returns where sysprof_rights_wait_for_walker() waits, as loading takes some 30 ms. */
int sysprof_rights_ask_walker (int socket, uint32_t most_addresses, bool by_lists);
/* Takes `promise`. The program. */
int sysprof_rights_wait_for_walker (int promise);
int sysprof_rights_ask_slab (int socket, uint32_t index);
/* What watches the scheduler, walking with the maps that were made; as for the walker. */
int sysprof_rights_ask_waits (int socket);
/* Takes `promise`. FALSE with errno. */
bool sysprof_rights_wait_for_waits (int promise, WaitsProgram *program);
/* The walks of `cpu` are written to the ring of `event_fd`. */
bool sysprof_rights_ask_output (int socket, uint32_t index, int event_fd);
