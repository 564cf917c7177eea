// SPDX-License-Identifier: GPL-3.0-or-later

/* Passes descriptors over sockets. */

#include "util/children/envelope.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Space for one descriptor. */
typedef union
{
  struct cmsghdr header;
  char bytes[CMSG_SPACE (sizeof (int))];
} Control;

bool
sysprof_message_send (int socket,
                      const void *head,
                      size_t head_size,
                      const void *body,
                      size_t body_size,
                      int fd,
                      int flags)
{
  Control control = { 0 };
  struct iovec parts[] = { { (void *) head, head_size }, { (void *) body, body_size } };
  struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
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

  errno = 0;
  n = sendmsg (socket, &message, MSG_NOSIGNAL | flags);
  return n >= 0 && (size_t) n == head_size + body_size;
}

bool
sysprof_message_receive (int socket, void *into, size_t size, int *fd, int flags)
{
  Control control;
  struct iovec part = { into, size };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
  struct cmsghdr *header;
  ssize_t n;

  if (fd != NULL)
    {
      message.msg_control = &control;
      message.msg_controllen = CMSG_LEN (sizeof (int)); /* no second one fits */
      *fd = -1;
    }
  errno = 0;
  do
    n = recvmsg (socket, &message, flags | MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n < 0 || (size_t) n != size)
    return false;

  header = fd != NULL ? CMSG_FIRSTHDR (&message) : NULL;
  if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
    memcpy (fd, CMSG_DATA (header), sizeof *fd);
  return true;
}

int
sysprof_envelope_seal (int fd)
{
  const uint8_t nothing = 0;
  int sockets[2];
  bool is_sent;
  int saved;

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return -1;

  is_sent =
      sysprof_message_send (sockets[0], &nothing, sizeof nothing, NULL, 0, fd, MSG_DONTWAIT);
  saved = errno;
  (void) close (sockets[0]);
  if (is_sent)
    return sockets[1];

  (void) close (sockets[1]);
  errno = saved;
  return -1;
}

int
sysprof_envelope_open (int envelope)
{
  uint8_t nothing;
  int fd = -1;

  return sysprof_message_receive (envelope, &nothing, sizeof nothing, &fd, MSG_PEEK) ? fd : -1;
}
