// SPDX-License-Identifier: GPL-3.0-or-later

/* Starts, talks to and ends sandboxed children. A child must not call anything that is unsafe
 * after fork(). */

#include "util/children/confined-child.h"

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
#define MOST_LEFT          16

#define MOST_PREPARED 8

/* A reply that arrived in time may be read after the deadline, because this process may have
 * been stopped or preempted: at most this many pieces. */
#define MOST_LATE 64

#define NSEC_PER_SEC 1000000000

/* --- the child --- */

bool
sysprof_confined_child_read (int socket, void *into, size_t size)
{
  uint8_t *at = into;

  while (size > 0)
    {
      ssize_t n = read (socket, at, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return false;
      at += n;
      size -= (size_t) n;
    }
  return true;
}

/* Space for one descriptor. */
typedef union
{
  struct cmsghdr header;
  char bytes[CMSG_SPACE (sizeof (int))];
} Control;

static bool
receive_message (int socket, void *into, size_t size, int *fd, int flags)
{
  Control control;
  struct iovec part = { into, size };
  struct msghdr message = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  struct cmsghdr *header;
  ssize_t n;

  do
    n = recvmsg (socket, &message, flags | MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n < 0 || (size_t) n != size)
    return false;

  *fd = -1;
  header = CMSG_FIRSTHDR (&message);
  if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
    memcpy (fd, CMSG_DATA (header), sizeof *fd);
  return true;
}

static bool
send_message (int socket, const void *bytes, size_t size, int fd)
{
  Control control = { 0 };
  struct iovec part = { (void *) bytes, size };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
  ssize_t n;

  if (fd >= 0)
    {
      control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN (sizeof (int)),
                                         .cmsg_level = SOL_SOCKET,
                                         .cmsg_type = SCM_RIGHTS };
      memcpy (CMSG_DATA (&control.header), &fd, sizeof fd);
      message.msg_control = &control;
      message.msg_controllen = sizeof control;
    }

  /* The other side has read all earlier messages, so the buffer has space. */
  n = sendmsg (socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  return n >= 0 && (size_t) n == size;
}

bool
sysprof_confined_child_read_request (int socket, void *request, size_t size, int *fd)
{
  return receive_message (socket, request, size, fd, MSG_WAITALL);
}

bool
sysprof_confined_child_look_at_request (int socket, void *request, size_t size, int *fd)
{
  return receive_message (socket, request, size, fd, MSG_PEEK);
}

bool
sysprof_confined_child_send_answer (int socket, const void *answer, size_t size, int fd)
{
  return send_message (socket, answer, size, fd);
}

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

/* What a child should do. The child is a copy of this process, so function pointers are valid
 * in it. */
typedef struct
{
  ConfinedChildServe serve;
  bool is_urgent;
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
  if (errand->is_urgent)
    go_before_others ();
  warm_up ();
  if (!errand->keeps_rights && !sysprof_confine ())
    _exit (1);

  errand->serve (0);
  _exit (0);
}

_Noreturn static void
wait_for_errand (void)
{
  Errand errand;

  if (!sysprof_confined_child_read (0, &errand, sizeof errand))
    _exit (0); /* the parent has not used this child */
  run (&errand);
}

/* --- the parent --- */

/* Guarded* by `lock`: several threads start and end children, and another one reads their CPU
 * time. */
static struct
{
  pthread_mutex_t lock;
  pid_t *running; /* 0 = it has ended */
  size_t n_running;
  int64_t ended_nsec;
  pid_t left[MOST_LEFT]; /* killed, but not reaped yet; 0 = free */
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

/* Replaces child `was` in the list by `now`. 0 and a child: it has started. A child and 0: it
 * is about to be reaped. */
static void
account_for (pid_t was, pid_t now)
{
  size_t at = 0;

  pthread_mutex_lock (&children.lock);
  while (at < children.n_running && children.running[at] != was)
    at++;
  if (at == children.n_running && was == 0)
    {
      pid_t *more = realloc (children.running, (at + 1) * sizeof *more);

      if (more != NULL)
        {
          children.running = more;
          children.n_running++;
        }
    }
  if (at < children.n_running)
    {
      children.running[at] = now;
      if (was != 0)
        children.ended_nsec += cpu_time_of (was);
    }
  pthread_mutex_unlock (&children.lock);
}

int64_t
sysprof_confined_children_cpu_time (void)
{
  int64_t nsec;

  pthread_mutex_lock (&children.lock);
  nsec = children.ended_nsec;
  for (size_t i = 0; i < children.n_running; i++)
    if (children.running[i] != 0)
      nsec += cpu_time_of (children.running[i]);
  pthread_mutex_unlock (&children.lock);
  return nsec;
}

/* Reaps killed children that have ended since, and adds `pid` to them; 0 = none. If the list is
 * full, `pid` stays a zombie. */
static void
wait_for_those_left (pid_t pid)
{
  pthread_mutex_lock (&children.lock);
  for (size_t i = 0; i < MOST_LEFT; i++)
    {
      pid_t *left = &children.left[i];

      if (*left != 0 && waitpid (*left, NULL, WNOHANG) != 0)
        *left = 0;
      if (*left == 0)
        {
          *left = pid;
          pid = 0;
        }
    }
  pthread_mutex_unlock (&children.lock);
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

/* A child that reads from a file system that does not answer cannot end before that answers. It
 * is left alone, and reaped when the next child is started. */
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
  wait_for_those_left (pid);
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
  children.n_running = 0;
  memset (children.left, 0, sizeof children.left);
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
sysprof_confined_child_start (ConfinedChild *self, ConfinedChildServe serve)
{
  Errand errand = { .serve = serve,
                    .is_urgent = self->is_urgent,
                    .keeps_rights = self->keeps_rights };

  wait_for_those_left (0);
  self->pid = take_prepared (&errand, &self->socket);
  if (self->pid == 0)
    self->pid = fork_child (&errand, &self->socket);
  if (self->pid == 0)
    {
      sysprof_confined_child_end (self);
      return false;
    }
  account_for (0, self->pid);
  return true;
}

bool
sysprof_confined_child_is_stopped (const ConfinedChild *self)
{
  struct pollfd stop = { .fd = self->stop_fd, .events = POLLIN };

  return self->has_stop_fd && poll (&stop, 1, 0) > 0 && (stop.revents & POLLIN) != 0;
}

void
sysprof_confined_child_end (ConfinedChild *self)
{
  if (self->socket >= 0)
    (void) close (self->socket); /* no data is in transit that matters */
  if (self->pid > 0)
    {
      (void) kill (self->pid, SIGKILL); /* it may have ended already */
      account_for (self->pid, 0);
      wait_for_end (self->pid,
                    sysprof_confined_child_is_stopped (self) ? LEAVE_STOPPED_MSEC : LEAVE_MSEC);
    }

  *self = (ConfinedChild) CONFINED_CHILD_INIT;
}

bool
sysprof_confined_child_is_waiting (const ConfinedChild *self)
{
  struct pollfd readable = { .fd = self->socket, .events = POLLIN };

  return self->pid != 0 && poll (&readable, 1, 0) == 0;
}

pid_t
sysprof_confined_child_give_up (ConfinedChild *self)
{
  pid_t pid = self->pid;

  (void) close (self->socket);
  (void) kill (pid, SIGKILL);
  account_for (pid, 0);
  *self = (ConfinedChild) CONFINED_CHILD_INIT;
  return pid;
}

int64_t
sysprof_confined_child_deadline (int64_t patience_msec)
{
  return now_msec () + patience_msec;
}

static bool
wait_for_child (const ConfinedChild *self, short events, int64_t deadline_msec)
{
  struct pollfd fds[] = { { .fd = self->socket, .events = events },
                          { .fd = self->has_stop_fd ? self->stop_fd : -1, .events = POLLIN } };

  for (;;)
    {
      int64_t left = deadline_msec - now_msec ();
      int n = left <= 0 && events != POLLIN ? 0 : poll (fds, 2, (int) (left > 0 ? left : 0));

      if (n < 0 && errno == EINTR)
        continue;
      return n > 0 && fds[1].revents == 0;
    }
}

bool
sysprof_confined_child_receive (const ConfinedChild *self,
                                int64_t deadline_msec,
                                void *into,
                                size_t size)
{
  uint8_t *at = into;
  unsigned n_late = 0;

  while (size > 0)
    {
      ssize_t n;

      if (!wait_for_child (self, POLLIN, deadline_msec) ||
          (now_msec () > deadline_msec && ++n_late > MOST_LATE))
        return false;
      n = recv (self->socket, at, size, MSG_DONTWAIT);
      if (n < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (n <= 0)
        return false;
      at += n;
      size -= (size_t) n;
    }
  return true;
}

bool
sysprof_confined_child_receive_answer (const ConfinedChild *self,
                                       int64_t deadline_msec,
                                       void *into,
                                       size_t size,
                                       int *fd)
{
  return wait_for_child (self, POLLIN, deadline_msec) &&
         receive_message (self->socket, into, size, fd, MSG_DONTWAIT);
}

bool
sysprof_confined_child_send_request (const ConfinedChild *self,
                                     const void *request,
                                     size_t size,
                                     int fd)
{
  return send_message (self->socket, request, size, fd);
}

bool
sysprof_confined_child_send (const ConfinedChild *self,
                             int64_t deadline_msec,
                             const void *bytes,
                             size_t size)
{
  const uint8_t *at = bytes;

  while (size > 0)
    {
      ssize_t n;

      if (!wait_for_child (self, POLLOUT, deadline_msec))
        return false;
      n = send (self->socket, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (n <= 0)
        return false;
      at += n;
      size -= (size_t) n;
    }
  return true;
}
