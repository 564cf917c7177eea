// SPDX-License-Identifier: GPL-3.0-or-later

/* A child that parses strangers' files for us, without rights: it has the descriptors it is handed, and can reach nothing
 * else. Or one that keeps our rights, for what may take for ever. Plain C. */

#pragma once

#include "util/file-budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Gives up everything but reading and writing descriptors that it has and more memory, for good. Returns FALSE where
 * the kernel refused; then nothing of a stranger's may be parsed. */
bool sysprof_confine (void);

/* *Owned* by one thread. */
typedef struct
{
  pid_t pid; /* 0 = not running */
  int socket;
  bool
      is_urgent; /* set before it is started: it goes before others for a CPU, where we may ask for that */
  bool keeps_rights; /* set before it is started: it is not confined */
  bool has_stop_fd;
  int stop_fd; /* borrowed: once it is readable, nothing is waited for any more */
  FileBudget
      *budget; /* borrowed: what the open files are charged to; NULL = they are trusted */
} ConfinedChild;

#define CONFINED_CHILD_INIT \
  {                         \
    .socket = -1            \
  }

/* Runs in the child, confined and with no descriptor but `socket`; when it returns, the child ends. */
typedef void (*ConfinedChildServe) (int socket);

/* Forks: `serve` and what it calls is plain C. FALSE with errno. */
bool sysprof_confined_child_start (ConfinedChild *self, ConfinedChildServe serve);
void sysprof_confined_child_end (ConfinedChild *self);
/* Forks up to `n` children, for whatever this thread starts next: a process that is about to grow has them while they are small, and
 * is not held up later by pages that it shares with them. Those that nobody took are ended by the same thread. */
void sysprof_confined_children_prepare (unsigned n);
void sysprof_confined_children_dismiss (void);
/* Its `stop_fd` is readable. */
bool sysprof_confined_child_is_stopped (const ConfinedChild *self);
/* Between requests: it has not died, nor says anything that nobody has asked for. */
bool sysprof_confined_child_is_waiting (const ConfinedChild *self);
/* Kills it and does not wait: the caller is to waitpid() for what it returns, the child. */
pid_t sysprof_confined_child_give_up (ConfinedChild *self);
/* CPU time (ns) of all such children of this process until now, of those that have ended too. Any thread may ask. */
int64_t sysprof_confined_children_cpu_time (void);

/* The parent's side. All are FALSE when the child is gone; receiving also at the deadline. `fd` is borrowed, -1 = none. The
 * child may have been taken over by a file that it parsed: what it says is checked like the file itself. */
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

/* A whole answer that was sent at once, with the descriptor that came along, -1 = none, which is the caller's. */
bool sysprof_confined_child_receive_answer (const ConfinedChild *self,
                                            int64_t deadline_msec,
                                            void *into,
                                            size_t size,
                                            int *fd);

/* The child's, who writes with sysprof_write_all(). `fd` is taken over; -1 = none came. */
bool sysprof_confined_child_read_request (int socket, void *request, size_t size, int *fd);
/* The same, and it stays to be read. */
bool sysprof_confined_child_look_at_request (int socket, void *request, size_t size, int *fd);
bool sysprof_confined_child_read (int socket, void *into, size_t size);
/* An answer, at once, with `fd` (borrowed). */
bool sysprof_confined_child_send_answer (int socket, const void *answer, size_t size, int fd);
