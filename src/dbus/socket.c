// SPDX-License-Identifier: GPL-3.0-or-later

/* Sends and receives bytes and descriptors on the socket of a bus, without blocking. */

#include "dbus/dbus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_PASSED 253 /* descriptors in one message of a socket; limit of the kernel */

void
sysprof_dbus_outgoing_clear (BusOutgoing *self)
{
  free (self->bytes);
  if (self->fd >= 0)
    (void) close (self->fd);
  *self = (BusOutgoing){ .fd = -1 };
}

bool
sysprof_dbus_socket_send (int socket, BusOutgoing *out)
{
  struct iovec part = { out->bytes + out->sent, out->size - out->sent };
  union
  {
    char bytes[CMSG_SPACE (sizeof (int))];
    struct cmsghdr align;
  } control = { 0 };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
  ssize_t n;

  if (out->fd >= 0)
    {
      struct cmsghdr *header;

      message.msg_control = control.bytes;
      message.msg_controllen = sizeof control.bytes;
      header = CMSG_FIRSTHDR (&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN (sizeof (int));
      memcpy (CMSG_DATA (header), &out->fd, sizeof (int));
    }

  do
    n = sendmsg (socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return false;

  if (out->fd >= 0)
    (void) close (out->fd);
  out->fd = -1;
  out->sent += (size_t) n;
  errno = EAGAIN; /* in case of a partial write */
  return out->sent == out->size;
}

static void
take_fds (struct msghdr *message, int *fds, unsigned *n_fds)
{
  for (struct cmsghdr *header = CMSG_FIRSTHDR (message); header != NULL;
       header = CMSG_NXTHDR (message, header))
    {
      size_t n = header->cmsg_len >= CMSG_LEN (0)
                     ? (header->cmsg_len - CMSG_LEN (0)) / sizeof (int)
                     : 0;

      if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        continue;
      for (size_t i = 0; i < n; i++)
        {
          int fd;

          memcpy (&fd, CMSG_DATA (header) + i * sizeof fd, sizeof fd);
          if (fds != NULL && *n_fds < BUS_MOST_FDS)
            fds[(*n_fds)++] = fd;
          else
            (void) close (fd);
        }
    }
}

ssize_t
sysprof_dbus_socket_receive (int socket, void *bytes, size_t size, int *fds, unsigned *n_fds)
{
  struct iovec part = { bytes, size };
  union
  {
    char bytes[CMSG_SPACE (MOST_PASSED * sizeof (int))];
    struct cmsghdr align;
  } control;
  struct msghdr message = { .msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes };
  ssize_t n;

  do
    n = recvmsg (socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n >= 0)
    take_fds (&message, fds, n_fds);
  return n;
}
