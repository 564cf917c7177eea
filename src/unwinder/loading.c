// SPDX-License-Identifier: GPL-3.0-or-later

/* The loader's thread works on duplicates of the map descriptors, so that the caller may close
 * its own at any time. */

#include "unwinder/loading.h"

#include "unwinder/priority.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

struct Loading
{
  pthread_t thread;
  atomic_bool is_done; /* stored with release order after the results */
  int done_fd;
  Privilege *privilege;
  WalkProgram program; /* its own descriptors; owned by the thread until it is done */
  unsigned call_depth;
  bool by_lists;
  int error; /* errno */
};

static void
free_loading (Loading *self)
{
  sysprof_walk_program_clear (&self->program);
  sysprof_autofd_close (&self->done_fd);
  sysprof_privilege_unref (self->privilege);
  g_free (self);
}

static void *
load (void *data)
{
  Loading *self = data;
  const uint64_t one = 1;

  /* Loading takes about 30 ms of CPU time. At normal priority on a busy machine it can take
   * more than a second, and until then stacks are truncated. */
  sysprof_raise_priority ();
  if (!sysprof_privilege_load_walker (self->privilege, self->call_depth, self->by_lists,
                                      &self->program))
    self->error = errno;
  atomic_store_explicit (&self->is_done, true, memory_order_release);
  (void) !write (self->done_fd, &one, sizeof one);
  return NULL;
}

/* A privileged helper does not pass all maps, so a missing descriptor stays missing. */
static bool
dup_fd (int fd, int *copy)
{
  *copy = fd >= 0 ? fcntl (fd, F_DUPFD_CLOEXEC, 3) : -1;
  return fd < 0 || *copy >= 0;
}

Loading *
sysprof_loading_start (Privilege *privilege,
                       const WalkProgram *maps,
                       unsigned call_depth,
                       bool by_lists)
{
  Loading *self = g_new0 (Loading, 1);
  int saved;

  atomic_init (&self->is_done, false);
  self->call_depth = call_depth;
  self->by_lists = by_lists;
  self->done_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->privilege = sysprof_privilege_ref (privilege);
  self->program = (WalkProgram) WALK_PROGRAM_INIT;
  if (self->done_fd >= 0 && dup_fd (maps->index_fd, &self->program.index_fd) &&
      dup_fd (maps->slabs_fd, &self->program.slabs_fd) &&
      dup_fd (maps->events_fd, &self->program.events_fd))
    {
      errno = pthread_create (&self->thread, NULL, load, self);
      if (errno == 0)
        return self;
    }

  saved = errno;
  free_loading (self);
  errno = saved;
  return NULL;
}

void
sysprof_loading_free (Loading *self)
{
  if (self == NULL)
    return;

  pthread_join (self->thread, NULL);
  free_loading (self);
}

int
sysprof_loading_get_fd (const Loading *self)
{
  return self->done_fd;
}

int
sysprof_loading_take (Loading *self)
{
  struct pollfd done = { .fd = self->done_fd, .events = POLLIN };
  int fd;

  while (!atomic_load_explicit (&self->is_done, memory_order_acquire))
    (void) poll (&done, 1, -1);

  fd = self->program.fd;
  self->program.fd = -1;
  errno = self->error;
  return fd;
}
