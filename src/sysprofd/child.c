// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs a method in a child process, because it may block: a file system of a user may delay a
 * read, and the daemon of power profiles may not answer. The child passes its whole reply in a
 * file in memory, and at most one descriptor for the client. Children that change the power
 * profile run one after another. */

#include "sysprofd/sysprofd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_SECONDS 20

/* Ends as usual on signals: the unit kills all its processes with SIGTERM. */
int
sysprof_child_fork (void)
{
  int child = fork ();
  sigset_t none;

  if (child == 0)
    {
      (void) sigemptyset (&none);
      (void) sigprocmask (SIG_SETMASK, &none, NULL);
    }
  return child;
}

/* --- the child --- */

static void
limit_child (const Service *service)
{
  (void) alarm (CHILD_SECONDS);
  /* The bus must notice at once when the service ends. */
  if (service->bus != NULL)
    (void) close (sysprof_dbus_connection_get_fd (service->bus));
}

/* A pidfd becomes readable when its process ends. */
static void
wait_for_turn (const Service *service)
{
  struct pollfd last = { .fd = service->last_in_turn, .events = POLLIN };

  if (service->last_in_turn >= 0)
    (void) poll (&last, 1, -1);
}

static bool
write_all (int fd, const uint8_t *bytes, size_t size)
{
  while (size > 0)
    {
      ssize_t n = write (fd, bytes, size);

      if (n <= 0)
        return false;
      bytes += n;
      size -= (size_t) n;
    }
  return true;
}

static bool
send_fds (int socket, const int *fds, unsigned n)
{
  struct iovec part = { "", 1 };
  union
  {
    char bytes[CMSG_SPACE (2 * sizeof (int))];
    struct cmsghdr align;
  } control = { 0 };
  struct msghdr message = { .msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = CMSG_SPACE (n * sizeof (int)) };
  struct cmsghdr *header = CMSG_FIRSTHDR (&message);

  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN (n * sizeof (int));
  memcpy (CMSG_DATA (header), fds, n * sizeof (int));
  return sendmsg (socket, &message, MSG_NOSIGNAL) == 1;
}

_Noreturn static void
run_child (Call *call, int socket)
{
  size_t size = 0;
  uint8_t *bytes;
  int fds[2];

  limit_child (call->service);
  if (call->method->kind == RUNS_IN_TURN)
    wait_for_turn (call->service);
  call->method->run (call);
  bytes = sysprof_call_serialize (call, &size);
  fds[0] = memfd_create ("reply", MFD_CLOEXEC);
  fds[1] = call->reply.fd;
  if (fds[0] < 0 || (bytes != NULL && !write_all (fds[0], bytes, size)) ||
      !send_fds (socket, fds, fds[1] >= 0 ? 2 : 1))
    _exit (1);
  _exit (0);
}

/* --- the service --- */

static void
set_last_in_turn (Service *service, int child)
{
  if (service->last_in_turn >= 0)
    (void) close (service->last_in_turn);
  service->last_in_turn = (int) syscall (SYS_pidfd_open, child, 0);
}

void
sysprof_child_change_profile (Service *service, const char *value)
{
  int child = sysprof_child_fork ();

  if (child == 0)
    {
      limit_child (service);
      wait_for_turn (service);
      if (value == NULL)
        sysprof_setting_release (SETTING_POWER_PROFILE);
      else
        (void) sysprof_setting_hold (SETTING_POWER_PROFILE, value);
      _exit (0);
    }
  if (child > 0) /* else the next start releases it */
    set_last_in_turn (service, child);
}

bool
sysprof_child_start (Client *client, Call *call)
{
  int sockets[2];

  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return false;

  client->child = sysprof_child_fork ();
  if (client->child == 0)
    run_child (call, sockets[1]);
  (void) close (sockets[1]);
  if (client->child < 0)
    {
      client->child = 0;
      (void) close (sockets[0]);
      return false;
    }
  if (call->method->kind == RUNS_IN_TURN)
    set_last_in_turn (call->service, client->child);
  client->socket = sockets[0];
  client->running = call;
  client->child_deadline = sysprof_service_now () + (CHILD_SECONDS + 1) * NSEC_PER_SEC;
  return true;
}

/* The ID is its own until it is reaped. */
void
sysprof_child_kill (const Client *client)
{
  if (client->child != 0)
    (void) kill (client->child, SIGKILL); /* a child that has just ended ignores it */
}

void
sysprof_children_reap (Service *service)
{
  int child;

  while ((child = waitpid (-1, NULL, WNOHANG)) > 0)
    for (Client *client = service->clients; client != NULL; client = client->next)
      if (client->child == child)
        client->child = 0;
}

/* Reads the file in memory; reading it never blocks. */
static uint8_t *
read_whole (int fd, size_t *size)
{
  struct stat info;
  uint8_t *bytes;

  if (fstat (fd, &info) != 0 || info.st_size < (off_t) BUS_FIXED_SIZE ||
      info.st_size > (off_t) BUS_MOST_SENT)
    return NULL;

  *size = (size_t) info.st_size;
  bytes = malloc (*size);
  if (bytes != NULL && pread (fd, bytes, *size, 0) == (ssize_t) *size)
    return bytes;
  free (bytes);
  return NULL;
}

void
sysprof_child_finish (Service *service, Client *client)
{
  Call *call = client->running;
  int fds[BUS_MOST_FDS];
  unsigned n_fds = 0;
  size_t size = 0;
  char byte;
  uint8_t *bytes = NULL;

  if (sysprof_dbus_socket_receive (client->socket, &byte, 1, fds, &n_fds) == 1 && n_fds > 0)
    {
      bytes = read_whole (fds[0], &size);
      if (bytes != NULL)
        sysprof_client_send (service, client, bytes, size, n_fds > 1 ? fds[1] : -1);
      else if (n_fds > 1)
        (void) close (fds[1]);
      (void) close (fds[0]);
    }
  if (bytes == NULL && (call->message->flags & BUS_NO_REPLY) == 0)
    {
      sysprof_reply_fail (&call->reply, "Failed",
                          "%s was ended after %d s: a file system or a process does not answer",
                          call->method->name, CHILD_SECONDS);
      sysprof_call_answer (service, call);
    }

  sysprof_child_kill (client);
  (void) close (client->socket);
  sysprof_call_free (call);
  client->running = NULL;
  client->child = 0;
  client->socket = -1;
}
