// SPDX-License-Identifier: GPL-3.0-or-later

/* The privileged side of the socket. A request has only numbers, and perhaps a descriptor of
 * the client's own. That descriptor is passed only to a system call that accepts one kind: the
 * directory of a cgroup, or an event. The server never opens, reads or looks up anything by a
 * name from the client, and limits what one connection can make the kernel keep. */

#include "rights/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE \
  1000 /* ms; a file system that takes longer counts as one that does not answer */

/* The result of a request: a descriptor for the client, NO_DESCRIPTOR for success without one,
 * or -1 with errno. */
#define NO_DESCRIPTOR (-2)

static int
open_event (RightsServer *self, const RightsRequest *request, int given)
{
  struct perf_event_attr attr = request->event.attr;

  errno = sysprof_rights_check_event (request, given >= 0, self->switch_id,
                                      attr.type >= PERF_TYPE_MAX &&
                                          sysprof_rights_counts_energy (attr.type));
  if (errno != 0)
    return -1;

  if (self->n_events >= RIGHTS_MOST_EVENTS)
    {
      errno = ENOSPC;
      return -1;
    }
  self->n_events++;

  return sysprof_rights_open_event (&attr, given >= 0 ? given : request->pid,
                                    request->event.cpu, given >= 0 ? PERF_FLAG_PID_CGROUP : 0);
}

static int
open_process_file (const RightsRequest *request)
{
  if (request->pid > 0 && request->number < N_PROCESS_FILES)
    return sysprof_rights_open_process_file (request->pid, (ProcessFile) request->number);

  errno = EPERM;
  return -1;
}

/* --- mapped files: a child opens them, as a file system that does not answer would block the
 * server forever --- */

static int
seal (int fd)
{
  const uint8_t nothing = 0;
  int sockets[2];
  bool is_sealed;
  int saved;

  if (fd < 0 || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return -1;

  is_sealed = sysprof_rights_send (sockets[0], &nothing, sizeof nothing, fd, MSG_DONTWAIT);
  saved = errno;
  (void) close (sockets[0]);
  if (is_sealed)
    return sockets[1];

  (void) close (sockets[1]);
  errno = saved;
  return -1;
}

_Noreturn static void
run_opener (int socket, const ExecutableMapping *mapping)
{
  RightsAnswer answer = { 0 };
  int envelope = -1;
  int fd;

  /* The child may block for long, and must not keep any descriptor open. */
  if (dup2 (socket, 0) < 0 || syscall (SYS_close_range, 1U, ~0U, 0U) != 0)
    _exit (1);

  fd = sysprof_rights_open_mapped_file (mapping);
  if (fd >= 0 && sysprof_rights_may_read (mapping->pid, fd))
    envelope = seal (fd);
  if (envelope < 0)
    answer.error = errno;
  (void) sysprof_rights_send (0, &answer, sizeof answer, envelope, MSG_DONTWAIT);
  _exit (0);
}

static int
receive_envelope (int socket)
{
  struct pollfd readable = { .fd = socket, .events = POLLIN };
  RightsAnswer answer;
  int envelope;

  if (poll (&readable, 1, PATIENCE) <= 0 ||
      !sysprof_rights_receive (socket, &answer, sizeof answer, &envelope))
    {
      errno = ETIMEDOUT;
      return -1;
    }

  errno = answer.error;
  return envelope;
}

/* A free entry for a child that has not ended; NULL = there are too many. */
static pid_t *
find_room (RightsServer *self)
{
  pid_t *room = NULL;

  for (unsigned i = 0; i < RIGHTS_MOST_LEFT; i++)
    {
      if (self->left[i] != 0 && waitpid (self->left[i], NULL, WNOHANG) != 0)
        self->left[i] = 0;
      if (self->left[i] == 0)
        room = &self->left[i];
    }
  return room;
}

static int
open_in_child (RightsServer *self, const ExecutableMapping *mapping)
{
  pid_t *room = find_room (self);
  int sockets[2];
  int envelope, saved;

  if (room == NULL)
    {
      errno = ETIMEDOUT;
      return -1;
    }
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return -1;

  *room = fork ();
  if (*room == 0)
    run_opener (sockets[1], mapping);
  (void) close (sockets[1]);
  if (*room < 0)
    {
      *room = 0;
      (void) close (sockets[0]);
      errno = EAGAIN;
      return -1;
    }

  envelope = receive_envelope (sockets[0]);
  saved = errno;
  (void) close (sockets[0]);
  (void) kill (*room, SIGKILL);
  errno = saved;
  return envelope;
}

static int
open_mapped_file (RightsServer *self, const RightsRequest *request)
{
  const ExecutableMapping *mapping = &request->mapping;

  if (mapping->pid > 0 && mapping->start < mapping->end && mapping->inode != 0)
    return open_in_child (self, mapping);

  errno = EPERM;
  return -1;
}

static int
read_namespace (const RightsRequest *request, uint64_t *value)
{
  if (request->pid <= 0 || request->number >= N_PROCESS_NS)
    {
      errno = EPERM;
      return -1;
    }

  *value = sysprof_rights_read_namespace (request->pid, (ProcessNamespace) request->number);
  return NO_DESCRIPTOR;
}

/* The server itself reads the number of the tracepoint whose raw part is permitted; it does not
 * trust the client's. */
static int
open_switch_format (RightsServer *self)
{
  int fd = sysprof_rights_open_switch_format ();
  uint64_t id = fd >= 0 ? sysprof_rights_read_switch_id (fd) : 0;

  if (id != 0)
    self->switch_id = id;
  return fd;
}

/* --- the walker --- */

static int
dup_fd (int fd)
{
  return fcntl (fd, F_DUPFD_CLOEXEC, 3);
}

static int
make_maps (RightsServer *self)
{
  if (self->maps.index_fd >= 0)
    {
      errno = EPERM;
      return -1;
    }

  return sysprof_walk_program_make_maps (&self->maps) ? dup_fd (self->maps.index_fd) : -1;
}

/* Loads programs on a thread of its own: it takes 30 ms, or longer on a busy machine, and
 * events must be opened meanwhile. */
typedef struct
{
  WalkProgram program; /* with its own descriptors */
  uint32_t most_addresses;
  bool by_lists;
  bool is_waits; /* the programs that watch the scheduler, instead of the walker */
  int socket;
} Load;

static void
free_load (Load *load)
{
  sysprof_walk_program_clear (&load->program);
  if (load->socket >= 0)
    (void) close (load->socket);
  free (load);
}

/* Sends the descriptors one after the other. */
static void
send_waits (Load *load)
{
  RightsAnswer answer = { 0 };
  WaitsProgram program;

  if (!sysprof_waits_program_load (&program, &load->program))
    {
      answer.error = errno;
      (void) sysprof_rights_send (load->socket, &answer, sizeof answer, -1, MSG_DONTWAIT);
      return;
    }
  for (unsigned i = 0; i < N_WAITS_FDS; i++)
    (void) sysprof_rights_send (load->socket, &answer, sizeof answer, program.fd[i],
                                MSG_DONTWAIT);
  sysprof_waits_program_clear (&program);
}

static void *
run_load (void *data)
{
  Load *load = data;
  const WalkProgramOptions options = {
    .most_addresses = load->most_addresses,
    .by_lists = load->by_lists,
  };
  RightsAnswer answer = { 0 };

  /* If the client has closed the socket, sending fails without effect. */
  if (load->is_waits)
    {
      send_waits (load);
      free_load (load);
      return NULL;
    }
  if (!sysprof_walk_program_load (&load->program, &options))
    answer.error = errno;
  (void) sysprof_rights_send (load->socket, &answer, sizeof answer, load->program.fd,
                              MSG_DONTWAIT);
  free_load (load);
  return NULL;
}

static bool
start_load (Load *load)
{
  pthread_attr_t attributes;
  pthread_t thread;

  if (pthread_attr_init (&attributes) != 0)
    return false;

  (void) pthread_attr_setdetachstate (&attributes, PTHREAD_CREATE_DETACHED);
  errno = pthread_create (&thread, &attributes, run_load, load);
  (void) pthread_attr_destroy (&attributes);
  return errno == 0;
}

/* Returns the client's end of a socket that will receive the program. */
static int
begin_load (RightsServer *self, uint32_t most_addresses, bool by_lists, bool is_waits)
{
  Load *load = NULL;
  int sockets[2];
  int saved;

  load = calloc (1, sizeof *load);
  if (load == NULL || socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    {
      free (load);
      return -1;
    }

  *load = (Load){ { -1, dup_fd (self->maps.index_fd), dup_fd (self->maps.slabs_fd),
                    dup_fd (self->maps.events_fd) },
                  most_addresses,
                  by_lists,
                  is_waits,
                  sockets[0] };
  if (start_load (load))
    return sockets[1];

  saved = errno;
  free_load (load);
  (void) close (sockets[1]);
  errno = saved;
  return -1;
}

static int
load_walker (RightsServer *self, const RightsRequest *request)
{
  if (self->maps.index_fd < 0 || request->walker.most_addresses > WALK_MOST_ADDRESSES ||
      request->walker.by_lists > 1 || self->has_loaded)
    {
      errno = EPERM;
      return -1;
    }
  self->has_loaded = true;
  return begin_load (self, request->walker.most_addresses, request->walker.by_lists != 0,
                     false);
}

static int
load_waits (RightsServer *self)
{
  if (self->maps.index_fd < 0 || self->has_waits)
    {
      errno = EPERM;
      return -1;
    }
  self->has_waits = true;
  return begin_load (self, 0, false, true);
}

/* Creates each slab once: it exists for as long as any process has it mapped. */
static int
add_slab (RightsServer *self, uint32_t index)
{
  int fd;

  if (self->maps.slabs_fd < 0 || index >= UNWIND_MOST_SLABS ||
      (self->slabs_made >> index & 1) != 0)
    {
      errno = EPERM;
      return -1;
    }

  fd = sysprof_walk_program_add_slab (&self->maps, index);
  if (fd >= 0)
    self->slabs_made |= UINT64_C (1) << index;
  return fd;
}

/* The kernel accepts only the descriptor of an event here. */
static int
set_output (RightsServer *self, uint32_t index, int given)
{
  if (self->maps.events_fd < 0 || given < 0)
    {
      errno = EPERM;
      return -1;
    }

  return sysprof_walk_program_set_output (&self->maps, index, given) ? NO_DESCRIPTOR : -1;
}

/* --- requests --- */

static int
carry_out (RightsServer *self, const RightsRequest *request, int given, uint64_t *value)
{
  switch ((RightsRequestKind) request->kind)
    {
    case ASK_EVENT:
      return open_event (self, request, given);
    case ASK_PROCESS_FILE:
      return open_process_file (request);
    case ASK_MAPPED_FILE:
      return open_mapped_file (self, request);
    case ASK_NAMESPACE:
      return read_namespace (request, value);
    case ASK_KALLSYMS:
      return sysprof_rights_open_kallsyms ();
    case ASK_SWITCH_FORMAT:
      return open_switch_format (self);
    case ASK_WALKER_MAPS:
      return make_maps (self);
    case ASK_WALKER:
      return load_walker (self, request);
    case ASK_SLAB:
      return add_slab (self, request->number);
    case ASK_WAITS:
      return load_waits (self);
    case ASK_OUTPUT:
      return set_output (self, request->number, given);
    case N_REQUESTS:
    default:
      errno = EPERM;
      return -1;
    }
}

void
sysprof_rights_server_init (RightsServer *self)
{
  *self = (RightsServer){ .maps = WALK_PROGRAM_INIT };
}

void
sysprof_rights_server_clear (RightsServer *self)
{
  sysprof_walk_program_clear (&self->maps);
  (void) find_room (self); /* init reaps those that still run when the server ends */
}

bool
sysprof_rights_server_handle (RightsServer *self, int socket)
{
  RightsRequest request;
  RightsAnswer answer = { 0 };
  bool is_sent;
  int given, fd;

  if (!sysprof_rights_receive (socket, &request, sizeof request, &given))
    return false;

  fd = carry_out (self, &request, given, &answer.value);
  if (fd == -1)
    answer.error = errno;
  /* Closed before the answer: the client relies on this. */
  if (given >= 0)
    (void) close (given);

  /* Does not wait for a client that does not read its answers. */
  is_sent = sysprof_rights_send (socket, &answer, sizeof answer, fd, MSG_DONTWAIT);
  if (fd >= 0)
    (void) close (fd);
  return is_sent;
}
