// SPDX-License-Identifier: GPL-3.0-or-later

/* The recorder's end of the control socket. A request is 10 bytes; the reply is one byte with
 * the descriptor of a ring, or without if there is none. All threads of a program, and the
 * programs that it starts, share the other end, so replies need not be in order. */

#include "rings/rings.h"

#include "util/util.h"

#include <errno.h>
#include <glib.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUESTS_PER_CALL 64

static const char request[10] = "CreatRing";

struct ControlServer
{
  int fd; /* owned */
  RingSet *rings;
  char received[sizeof request];
  size_t n_received;
  int ring_fd; /* of a reply that is not sent yet; -1 = none */
  bool owes_reply;
};

ControlServer *
sysprof_control_server_new (int fd, RingSet *rings)
{
  ControlServer *self = g_new0 (ControlServer, 1);
  int on = 1;

  self->fd = fd;
  self->rings = rings;
  self->ring_fd = -1;
  /* Without it the programs of lost frames are reported as process 0. */
  (void) setsockopt (fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  return self;
}

void
sysprof_control_server_free (ControlServer *self)
{
  if (self == NULL)
    return;

  sysprof_autofd_close (&self->ring_fd);
  sysprof_autofd_close (&self->fd);
  g_free (self);
}

int
sysprof_control_server_get_fd (const ControlServer *self)
{
  return self->fd;
}

/* Closes descriptors that the program sent. */
static pid_t
take_control_messages (struct msghdr *message)
{
  pid_t pid = 0;

  for (struct cmsghdr *control = CMSG_FIRSTHDR (message); control != NULL;
       control = CMSG_NXTHDR (message, control))
    {
      size_t size = control->cmsg_len - CMSG_LEN (0);

      if (control->cmsg_level != SOL_SOCKET)
        continue;
      if (control->cmsg_type == SCM_CREDENTIALS && size >= sizeof (struct ucred))
        {
          struct ucred sender;

          memcpy (&sender, CMSG_DATA (control), sizeof sender);
          pid = sender.pid;
        }
      for (size_t at = 0; control->cmsg_type == SCM_RIGHTS && at + sizeof (int) <= size;
           at += sizeof (int))
        {
          int fd;

          memcpy (&fd, CMSG_DATA (control) + at, sizeof fd);
          (void) close (fd); /* not used */
        }
    }

  return pid;
}

/* The kernel never joins bytes of two senders. */
static ssize_t
receive (ControlServer *self, pid_t *pid)
{
  union
  {
    struct cmsghdr header;
    char space[CMSG_SPACE (sizeof (struct ucred)) + CMSG_SPACE (8 * sizeof (int))];
  } control;
  struct iovec bytes = { self->received + self->n_received,
                         sizeof self->received - self->n_received };
  struct msghdr message = {
    .msg_iov = &bytes,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };
  ssize_t n;

  do
    n = recvmsg (self->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n > 0)
    *pid = take_control_messages (&message);
  return n;
}

static ControlState
send_reply (ControlServer *self)
{
  union
  {
    struct cmsghdr header;
    char space[CMSG_SPACE (sizeof (int))];
  } control = { 0 };
  char byte = 0;
  struct iovec bytes = { &byte, sizeof byte };
  struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
  ssize_t n;

  if (self->ring_fd >= 0)
    {
      control.header.cmsg_level = SOL_SOCKET;
      control.header.cmsg_type = SCM_RIGHTS;
      control.header.cmsg_len = CMSG_LEN (sizeof (int));
      memcpy (CMSG_DATA (&control.header), &self->ring_fd, sizeof (int));
      message.msg_control = &control;
      message.msg_controllen = sizeof control;
    }
  do
    n = sendmsg (self->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);

  /* ETOOMANYREFS: too many descriptors wait in sockets of this user. */
  if (n < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS))
    return CONTROL_WRITING;

  sysprof_autofd_close (&self->ring_fd);
  self->ring_fd = -1;
  self->owes_reply = false;
  return n < 0 ? CONTROL_CLOSED : CONTROL_READING;
}

ControlState
sysprof_control_server_answer (ControlServer *self)
{
  for (unsigned i = 0; i < REQUESTS_PER_CALL; i++)
    {
      ControlState state = self->owes_reply ? send_reply (self) : CONTROL_READING;
      pid_t pid = 0;
      ssize_t n;

      if (state != CONTROL_READING)
        return state;

      n = receive (self, &pid);
      if (n < 0 && errno == EAGAIN)
        return CONTROL_READING;
      if (n <= 0)
        return CONTROL_CLOSED;
      self->n_received += (size_t) n;
      if (memcmp (self->received, request, self->n_received) != 0)
        return CONTROL_CLOSED; /* an unknown protocol */
      if (self->n_received < sizeof request)
        continue;

      self->n_received = 0;
      self->owes_reply = true;
      self->ring_fd = sysprof_ring_set_add (self->rings, pid);
    }

  return self->owes_reply ? send_reply (self) : CONTROL_READING;
}
