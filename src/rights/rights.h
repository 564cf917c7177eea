// SPDX-License-Identifier: GPL-3.0-or-later

/* rights: the parts of a recording that need privileges, and a server that lends them to a
 * recorder without privileges. Plain C and libbpf, small enough for a privileged process:
 * nothing here parses data from untrusted files or processes.
 *
 *   open.c     opens files and events with the privileges of the caller, in one or two
 *              system calls
 *   message.h  a request has numbers and at most one descriptor; so has its answer
 *   check.c    decides which events a client may open
 *   server.c   the privileged side of a socket: checks a request, executes it, passes the
 *              descriptor
 *   client.c   the recorder's side
 *
 *   RightsServer server;                     in the parent, which has authorized the client
 *   sysprof_rights_server_init (&server);
 *   while (sysprof_rights_server_handle (&server, socket))
 *     continue;
 *   sysprof_rights_server_clear (&server);
 *
 * The socket has type SEQPACKET. It is as valuable as a recording of the whole machine: the
 * process that has the other end may sample all users. */

#pragma once

#include "bpf/bpf.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* --- with the caller's own privileges --- */

/* Descriptors are the caller's and close-on-exec; errors are -1 with errno. */

int sysprof_rights_open_event (struct perf_event_attr *attr,
                               pid_t pid,
                               int cpu,
                               unsigned long flags);

/* The files of /proc/PID that a client may open. */
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

/* N_PROCESS_FILES if there is no file of that name. */
ProcessFile sysprof_rights_find_process_file (const char *name);
int sysprof_rights_open_process_file (pid_t pid, ProcessFile file);

/* An executable mapping of a file, as the kernel reports it. */
typedef struct
{
  int32_t pid;
  uint32_t device_major;
  uint32_t device_minor;
  uint64_t inode;
  uint64_t start;
  uint64_t end;
} ExecutableMapping;

/* Opens the mapped file for reading, even if it has been deleted. ESTALE unless exactly this
 * file is mapped there, executable and regular. */
int sysprof_rights_open_mapped_file (const ExecutableMapping *mapping);
/* Whether the permissions of the file let the user who started the process read it: programs
 * can be executed that cannot be read. FALSE with EACCES. */
bool sysprof_rights_may_read (pid_t pid, int fd);

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

/* N_PROCESS_NS if there is no namespace of that name. */
ProcessNamespace sysprof_rights_find_namespace (const char *name);
/* The inode of the namespace; 0 if it cannot be read. */
uint64_t sysprof_rights_read_namespace (pid_t pid, ProcessNamespace which);

int sysprof_rights_open_kallsyms (void);

/* Whether events of that type belong to a device that counts the energy of the processor. */
bool sysprof_rights_counts_energy (uint32_t type);

/* Opens the directory of tracefs. If it is not mounted, mounts it for this descriptor only. */
int sysprof_rights_open_tracefs (void);
/* Opens events/sched/sched_switch/format in tracefs, the layout of switch events. */
int sysprof_rights_open_switch_format (void);
/* The number of the tracepoint in this file; 0 = unknown. */
uint64_t sysprof_rights_read_switch_id (int fd);

/* Whether a recorder may have this event with these parts of its samples. `switch_id`: the
 * tracepoint whose raw part is permitted, 0 = none. */
bool sysprof_rights_is_known_event (const struct perf_event_attr *attr, uint64_t switch_id);

/* --- the server --- */

#define RIGHTS_MOST_EVENTS 65536u /* per recording; then ENOSPC */
#define RIGHTS_MOST_LEFT \
  8u /* children that wait for a file system that does not answer; then ETIMEDOUT */

/* The server of one socket and one recording, so that there is one walker and each of its slabs
 * is created once. *Owned* by one thread. */
typedef struct
{
  WalkProgram maps;
  uint64_t slabs_made; /* one bit per slab */
  uint32_t n_events;
  uint64_t switch_id; /* the tracepoint of switches; 0 = its format has not been requested */
  pid_t left[RIGHTS_MOST_LEFT]; /* children that were killed and may still run; 0 = free */
  bool has_loaded;
  bool has_waits;
} RightsServer;

void sysprof_rights_server_init (RightsServer *self);
/* Waits for one request and answers it. FALSE: the client has closed the connection or violates
 * the protocol; the caller closes the connection. */
bool sysprof_rights_server_handle (RightsServer *self, int socket);
void sysprof_rights_server_clear (RightsServer *self);

/* --- the client --- */

/* Each function sends one request through `socket` and waits for the answer, which takes the
 * server a few system calls. Results are those of the functions above; EPIPE if the server has
 * closed the connection. */

/* `cgroup_fd` (borrowed, -1 = none) replaces `pid`. */
int sysprof_rights_ask_event (int socket,
                              const struct perf_event_attr *attr,
                              pid_t pid,
                              int cpu,
                              int cgroup_fd);
int sysprof_rights_ask_process_file (int socket, pid_t pid, ProcessFile file);
/* Returns an envelope: a socket with one byte and the file's descriptor in its queue.
 * ETIMEDOUT: the file system has not answered for a second. */
int sysprof_rights_ask_mapped_file (int socket, const ExecutableMapping *mapping);
uint64_t sysprof_rights_ask_namespace (int socket, pid_t pid, ProcessNamespace which);
int sysprof_rights_ask_kallsyms (int socket);
/* After this request, events of that tracepoint may have their raw part. */
int sysprof_rights_ask_switch_format (int socket);

/* Receives only the index; the server keeps the other maps. */
bool sysprof_rights_ask_walker_maps (int socket, WalkProgram *program);
/* Starts to load the walker, which takes about 30 ms. Returns a descriptor for
 * sysprof_rights_wait_for_walker(). */
int sysprof_rights_ask_walker (int socket, uint32_t most_addresses, bool by_lists);
/* Waits for the program. Takes `promise`. */
int sysprof_rights_wait_for_walker (int promise);
int sysprof_rights_ask_slab (int socket, uint32_t index);
/* The same for the programs that watch the scheduler, with the maps of the walker. */
int sysprof_rights_ask_waits (int socket);
/* Waits for the programs. Takes `promise`. FALSE with errno. */
bool sysprof_rights_wait_for_waits (int promise, WaitsProgram *program);
/* Connects output `index` of the walker to the ring of `event_fd`. */
bool sysprof_rights_ask_output (int socket, uint32_t index, int event_fd);
