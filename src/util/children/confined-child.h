// SPDX-License-Identifier: GPL-3.0-or-later

/* A child process without privileges that parses untrusted files: it has only the descriptors
 * that it receives. Or a child that keeps its privileges, for calls that may block forever.
 * Plain C. */

#pragma once

#include "util/children/file-budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Gives up all privileges but reading and writing open descriptors and allocating memory,
 * permanently. Returns FALSE if the kernel refuses; then no untrusted file may be parsed. */
bool sysprof_confine (void);

/* *Owned* by one thread. */
typedef struct
{
  pid_t pid; /* 0 = not running */
  int socket;
  bool is_urgent; /* set before it is started: gets a higher priority, if that is permitted */
  bool keeps_rights; /* set before it is started: no sandbox */
  bool has_stop_fd;
  int stop_fd; /* borrowed: once it is readable, all waiting ends */
  /* borrowed: work for files is charged to it; NULL = the files are trusted */
  FileBudget *budget;
} ConfinedChild;

#define CONFINED_CHILD_INIT \
  {                         \
    .socket = -1            \
  }

/* Runs in the child, in the sandbox and with only one descriptor, `socket`. When it returns,
 * the child exits. */
typedef void (*ConfinedChildServe) (int socket);

/* Forks, so `serve` must be plain C that is safe after fork(). FALSE with errno. */
bool sysprof_confined_child_start (ConfinedChild *self, ConfinedChildServe serve);
void sysprof_confined_child_end (ConfinedChild *self);
/* Forks up to `n` children in advance, which this thread starts later. A process that is about
 * to allocate much memory forks them while it is small, because copying its page tables later
 * would take time. The same thread ends those that were not used. */
void sysprof_confined_children_prepare (unsigned n);
void sysprof_confined_children_dismiss (void);
/* Whether `stop_fd` is readable. */
bool sysprof_confined_child_is_stopped (const ConfinedChild *self);
/* Whether the child is ready for a request: it has not exited, and has sent nothing without a
 * request. */
bool sysprof_confined_child_is_waiting (const ConfinedChild *self);
/* Kills the child without waiting. Returns its PID, for which the caller must call
 * waitpid(). */
pid_t sysprof_confined_child_give_up (ConfinedChild *self);
/* CPU time (ns) of all such children of this process, including those that have ended. Any
 * thread. */
int64_t sysprof_confined_children_cpu_time (void);

/* The parent's side. All return FALSE if the child has exited; receiving also at the deadline.
 * `fd` is borrowed, -1 = none. A file that the child parsed may have taken control of the
 * child, so its answers must be checked like the file itself. */
bool sysprof_confined_child_send_request (const ConfinedChild *self,
                                          const void *request,
                                          size_t size,
                                          int fd);
bool sysprof_confined_child_send (const ConfinedChild *self,
                                  int64_t deadline_msec,
                                  const void *bytes,
                                  size_t size);
int64_t sysprof_confined_child_deadline (int64_t patience_msec);
bool sysprof_confined_child_receive (const ConfinedChild *self,
                                     int64_t deadline_msec,
                                     void *into,
                                     size_t size);

/* Receives a complete answer that was sent at once, and its descriptor, which is the caller's;
 * -1 = none. */
bool sysprof_confined_child_receive_answer (const ConfinedChild *self,
                                            int64_t deadline_msec,
                                            void *into,
                                            size_t size,
                                            int *fd);

/* The child's side; it writes with sysprof_write_all(). The caller owns `fd`; -1 = none. */
bool sysprof_confined_child_read_request (int socket, void *request, size_t size, int *fd);
/* The same, without removing the request from the socket. */
bool sysprof_confined_child_look_at_request (int socket, void *request, size_t size, int *fd);
bool sysprof_confined_child_read (int socket, void *into, size_t size);
/* Sends an answer at once, with the borrowed descriptor `fd`. */
bool sysprof_confined_child_send_answer (int socket, const void *answer, size_t size, int fd);
