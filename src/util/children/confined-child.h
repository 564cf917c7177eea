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

typedef struct ChildService ChildService; /* util/children/child-service.h */

/* *Owned* by one thread. */
typedef struct
{
  pid_t pid; /* 0 = not running */
  int socket;
  const ChildService *service; /* of the running child */
  bool keeps_rights;           /* set before it is started: no sandbox, whatever the service */
  bool has_stop_fd;
  int stop_fd; /* borrowed: once it is readable, all waiting ends */
  /* borrowed: work for files is charged to it; NULL = the files are trusted */
  FileBudget *budget;
} ConfinedChild;

#define CONFINED_CHILD_INIT \
  {                         \
    .socket = -1            \
  }

/* Forks a child that runs the service in the sandbox, with only one descriptor. It exits when
 * the parent closes the socket. The functions of the service must be plain C that is safe after
 * fork(). FALSE with errno. */
bool sysprof_confined_child_start (ConfinedChild *self, const ChildService *service);

/* All children are ended in the same way: the child is killed, and reaped if it ends within two
 * seconds, or 50 ms if the stop_fd is readable. A child that blocks in the kernel is reaped
 * when a later child is started or ended. Settings keep their values. */
void sysprof_confined_child_end (ConfinedChild *self);
/* The same without waiting. */
void sysprof_confined_child_give_up (ConfinedChild *self);
/* Whether a child that was ended still runs. */
bool sysprof_confined_child_is_left (pid_t pid);

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
/* CPU time (ns) of all such children of this process, including those that have ended. Any
 * thread. */
int64_t sysprof_confined_children_cpu_time (void);

/* The time `patience_msec` from now, in ms of the monotonic clock. */
int64_t sysprof_confined_child_deadline (int64_t patience_msec);
