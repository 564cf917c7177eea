// SPDX-License-Identifier: GPL-3.0-or-later

/* Sends and receives packets with at most one descriptor. */

#include "rights/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef union
{
  struct cmsghdr header;
  char bytes[CMSG_SPACE (sizeof (int))];
} OneDescriptor;

bool
sysprof_rights_send (int socket, const void *message, size_t size, int fd, int flags)
{
  OneDescriptor control = { 0 };
  struct iovec part = { (void *) message, size };
  struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
  ssize_t n;

  if (fd >= 0)
    {
      control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN (sizeof (int)),
                                         .cmsg_level = SOL_SOCKET,
                                         .cmsg_type = SCM_RIGHTS };
      memcpy (CMSG_DATA (&control.header), &fd, sizeof fd);
      header.msg_control = &control;
      header.msg_controllen = sizeof control;
    }

  do
    n = sendmsg (socket, &header, flags | MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n >= 0 && (size_t) n == size;
}

static void
take_descriptor (struct msghdr *header, int *fd)
{
  struct cmsghdr *control = CMSG_FIRSTHDR (header);

  *fd = -1;
  if (control != NULL && control->cmsg_level == SOL_SOCKET &&
      control->cmsg_type == SCM_RIGHTS && control->cmsg_len >= CMSG_LEN (sizeof (int)))
    memcpy (fd, CMSG_DATA (control), sizeof *fd);
}

bool
sysprof_rights_receive (int socket, void *message, size_t size, int *fd)
{
  OneDescriptor control;
  struct iovec part = { message, size };
  /* Without the padding of `control`, which would leave space for a second descriptor. */
  struct msghdr header = { .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = CMSG_LEN (sizeof (int)) };
  ssize_t n;

  do
    n = recvmsg (socket, &header, MSG_CMSG_CLOEXEC | MSG_TRUNC);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return false;

  take_descriptor (&header, fd);
  if ((size_t) n == size && (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
    return true;

  if (*fd >= 0)
    (void) close (*fd);
  *fd = -1;
  errno = n == 0 ? EPIPE : EBADMSG;
  return false;
}
