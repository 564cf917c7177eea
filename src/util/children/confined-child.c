// SPDX-License-Identifier: GPL-3.0-or-later

/* Starts and ends children. A child must not call anything that is unsafe after fork(). */

#include "util/children/confined-child.h"

#include "util/children/child-service.h"
#include "util/children/envelope.h"
#include "util/children/prepared-children.h"
#include "util/slice.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* For urgent children: half of a CPU in competition with ten busy threads. */
#define NICE      (-10)
#define NICE_TEXT "-10"

#define LEAVE_MSEC         2000    /* until the parent stops waiting for a killed child */
#define LEAVE_STOPPED_MSEC 50      /* the same, if the caller must not wait any more */
#define NAP_NSEC           1000000 /* between two checks */

#define MOST_PREPARED 8

#define NSEC_PER_SEC 1000000000

/* --- the child --- */

static int
compare_bytes (const void *a, const void *b)
{
  return *(const uint8_t *) a - *(const uint8_t *) b;
}

/* Some functions of the C library make system calls on first use that the filter forbids later:
 * malloc() reads random bytes and the number of CPUs, qsort() of more than 1 KiB the size of
 * the memory. */
static void
warm_up (void)
{
  uint8_t unsorted[2048] = { 0 };

  (void) mallopt (M_ARENA_MAX, 1);
  free (malloc (1));
  qsort (unsorted, sizeof unsorted, 1, compare_bytes);
}

/* If the kernel groups tasks by session (autogroup), only the nice value of the session has an
 * effect. */
static void
go_before_others (void)
{
  int fd = open ("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);

  /* if it is not permitted, the child is only slower */
  (void) setpriority (PRIO_PROCESS, 0, NICE);
  sysprof_shorten_slice ();
  if (fd < 0)
    return;
  (void) !write (fd, NICE_TEXT, sizeof NICE_TEXT - 1);
  close (fd);
}

/* What a child should do. The child is a copy of this process, so pointers to constants and
 * functions are valid in it. */
typedef struct
{
  const ChildService *service;
  bool keeps_rights;
} Errand;

static void forget_siblings (void);

static void
leave_parent (int socket)
{
  forget_siblings ();
  /* A session of its own, so that ^C does not end it before the recorder. */
  (void) setsid ();
  /* Close all descriptors but the socket: others may be able to sample the whole machine. */
  if (dup2 (socket, 0) < 0 || syscall (SYS_close_range, 1U, ~0U, 0U) != 0)
    _exit (1);
}

_Noreturn static void
run (const Errand *errand)
{
  if (errand->service->is_urgent)
    go_before_others ();
  warm_up ();
  if (!errand->keeps_rights && !sysprof_confine ())
    _exit (1);

  sysprof_child_serve (0, errand->service);
  _exit (0);
}

_Noreturn static void
wait_for_errand (void)
{
  Errand errand;

  if (!sysprof_message_receive (0, &errand, sizeof errand, NULL, MSG_WAITALL))
    _exit (0); /* the parent has not used this child */
  run (&errand);
}

/* --- the parent --- */

typedef struct
{
  pid_t pid;      /* 0 = free */
  bool is_killed; /* it is only in the list until it is reaped */
} ListedChild;

/* Guarded* by `lock`: several threads start and end children, and another one reads their CPU
 * time. */
static struct
{
  pthread_mutex_t lock;
  ListedChild *list; /* [n] */
  size_t n;
  int64_t ended_nsec;
} children = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* 0 if the child has ended. */
static int64_t
cpu_time_of (pid_t pid)
{
  clockid_t clock;
  struct timespec used;

  if (clock_getcpuclockid (pid, &clock) != 0 || clock_gettime (clock, &used) != 0)
    return 0;
  return (int64_t) used.tv_sec * NSEC_PER_SEC + used.tv_nsec;
}

/* Called with the lock. NULL = there is none, or no memory for another one. */
static ListedChild *
find_listed (pid_t pid)
{
  ListedChild *more;

  for (size_t i = 0; i < children.n; i++)
    if (children.list[i].pid == pid)
      return &children.list[i];
  if (pid != 0)
    return NULL;

  more = realloc (children.list, (children.n + 1) * sizeof *more);
  if (more == NULL)
    return NULL;
  children.list = more;
  more[children.n] = (ListedChild){ 0 };
  return &more[children.n++];
}

static void
list_child (pid_t pid, bool is_killed)
{
  ListedChild *listed;

  pthread_mutex_lock (&children.lock);
  listed = find_listed (0);
  if (listed != NULL)
    *listed = (ListedChild){ pid, is_killed };
  pthread_mutex_unlock (&children.lock);
}

/* Before the child is reaped. */
static void
unlist_child (pid_t pid)
{
  ListedChild *listed;

  pthread_mutex_lock (&children.lock);
  listed = find_listed (pid);
  if (listed != NULL)
    {
      children.ended_nsec += cpu_time_of (pid);
      listed->pid = 0;
    }
  pthread_mutex_unlock (&children.lock);
}

int64_t
sysprof_confined_children_cpu_time (void)
{
  int64_t nsec;

  pthread_mutex_lock (&children.lock);
  nsec = children.ended_nsec;
  for (size_t i = 0; i < children.n; i++)
    if (children.list[i].pid != 0 && !children.list[i].is_killed)
      nsec += cpu_time_of (children.list[i].pid);
  pthread_mutex_unlock (&children.lock);
  return nsec;
}

/* Reaps killed children that have ended since. */
static void
reap_killed (void)
{
  pthread_mutex_lock (&children.lock);
  for (size_t i = 0; i < children.n; i++)
    {
      ListedChild *listed = &children.list[i];

      if (listed->pid != 0 && listed->is_killed && waitpid (listed->pid, NULL, WNOHANG) != 0)
        listed->pid = 0;
    }
  pthread_mutex_unlock (&children.lock);
}

bool
sysprof_confined_child_is_left (pid_t pid)
{
  const ListedChild *listed;
  bool is_left;

  reap_killed ();
  pthread_mutex_lock (&children.lock);
  listed = pid != 0 ? find_listed (pid) : NULL;
  is_left = listed != NULL && listed->is_killed;
  pthread_mutex_unlock (&children.lock);
  return is_left;
}

/* Forks a child, which waits for an errand if `errand` is NULL. 0 with errno; `socket` is then
 * -1. */
static pid_t
fork_child (const Errand *errand, int *socket)
{
  int sockets[2];
  pid_t pid;

  *socket = -1;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return 0;

  pid = fork ();
  if (pid == 0)
    {
      leave_parent (sockets[1]);
      if (errand == NULL)
        wait_for_errand ();
      run (errand);
    }

  close (sockets[1]);
  if (pid > 0)
    {
      *socket = sockets[0];
      return pid;
    }
  close (sockets[0]);
  return 0;
}

static int64_t
now_msec (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for a killed child. A child that reads from a file system that does not answer cannot
 * end before that answers. It is left alone, and reaped when another child is started or
 * ended. */
static void
wait_for_end (pid_t pid, int64_t patience_msec)
{
  const struct timespec nap = { .tv_nsec = NAP_NSEC };
  int64_t deadline = now_msec () + patience_msec;

  for (;;)
    {
      pid_t ended = waitpid (pid, NULL, WNOHANG);

      if (ended == pid || (ended < 0 && errno != EINTR))
        return;
      if (now_msec () >= deadline)
        break;
      (void) nanosleep (&nap, NULL);
    }
  list_child (pid, true);
}

/* Owned* by their thread: a sandboxed child ends with the thread that forked it. */
static _Thread_local PreparedChild prepared[MOST_PREPARED];
static _Thread_local unsigned n_prepared;

/* Called in a new child, which may start its own children. It must not use, reap or kill those
 * of the parent. Another thread may have held the lock during fork(), so the lock is reset. */
static void
forget_siblings (void)
{
  n_prepared = 0;
  pthread_mutex_init (&children.lock, NULL);
  children.n = 0;
}

void
sysprof_confined_children_prepare (unsigned n)
{
  while (n_prepared < n && n_prepared < MOST_PREPARED)
    {
      pid_t pid = fork_child (NULL, &prepared[n_prepared].socket);

      if (pid == 0)
        return; /* whoever needs a child forks, and reports the error */
      prepared[n_prepared++].pid = pid;
    }
}

unsigned
sysprof_prepared_children_lend (PreparedChild *lent, unsigned n)
{
  unsigned n_lent = 0;

  while (n_lent < n && n_prepared > 0)
    lent[n_lent++] = prepared[--n_prepared];
  return n_lent;
}

void
sysprof_prepared_children_take (const PreparedChild *lent, unsigned n)
{
  for (unsigned i = 0; i < n && n_prepared < MOST_PREPARED; i++)
    prepared[n_prepared++] = lent[i];
}

static void
kill_prepared (unsigned i)
{
  (void) close (prepared[i].socket);
  (void) kill (prepared[i].pid, SIGKILL); /* it may have ended already */
}

void
sysprof_confined_children_dismiss (void)
{
  for (unsigned i = 0; i < n_prepared; i++)
    kill_prepared (i); /* all end while the first is reaped */
  while (n_prepared > 0)
    wait_for_end (prepared[--n_prepared].pid, LEAVE_MSEC);
}

/* 0 = there is none. */
static pid_t
take_prepared (const Errand *errand, int *socket)
{
  while (n_prepared > 0)
    {
      unsigned i = --n_prepared;

      if (send (prepared[i].socket, errand, sizeof *errand, MSG_NOSIGNAL | MSG_DONTWAIT) ==
          (ssize_t) sizeof *errand)
        {
          *socket = prepared[i].socket;
          return prepared[i].pid;
        }
      kill_prepared (i); /* somebody has killed it */
      wait_for_end (prepared[i].pid, LEAVE_MSEC);
    }
  return 0;
}

bool
sysprof_confined_child_start (ConfinedChild *self, const ChildService *service)
{
  Errand errand = { .service = service,
                    .keeps_rights = self->keeps_rights || service->keeps_rights };

  reap_killed ();
  self->pid = take_prepared (&errand, &self->socket);
  if (self->pid == 0)
    self->pid = fork_child (&errand, &self->socket);
  if (self->pid == 0)
    return false;
  self->service = service;
  list_child (self->pid, false);
  return true;
}

bool
sysprof_confined_child_is_stopped (const ConfinedChild *self)
{
  struct pollfd stop = { .fd = self->stop_fd, .events = POLLIN };

  return self->has_stop_fd && poll (&stop, 1, 0) > 0 && (stop.revents & POLLIN) != 0;
}

static void
end_within (ConfinedChild *self, int64_t patience_msec)
{
  if (self->socket >= 0)
    (void) close (self->socket); /* no data is in transit that matters */
  if (self->pid > 0)
    {
      (void) kill (self->pid, SIGKILL); /* it may have ended already */
      unlist_child (self->pid);
      wait_for_end (self->pid, patience_msec);
    }
  self->pid = 0;
  self->socket = -1;
}

void
sysprof_confined_child_end (ConfinedChild *self)
{
  reap_killed ();
  end_within (self, sysprof_confined_child_is_stopped (self) ? LEAVE_STOPPED_MSEC : LEAVE_MSEC);
}

void
sysprof_confined_child_give_up (ConfinedChild *self)
{
  end_within (self, 0);
}

bool
sysprof_confined_child_is_waiting (const ConfinedChild *self)
{
  struct pollfd readable = { .fd = self->socket, .events = POLLIN };

  return self->pid != 0 && poll (&readable, 1, 0) == 0;
}

int64_t
sysprof_confined_child_deadline (int64_t patience_msec)
{
  return now_msec () + patience_msec;
}
