// SPDX-License-Identifier: BSD-2-Clause

/* The socket is a number in the environment, and numbers get stale: children are started with
 * their descriptors closed and the variable kept, and the next file opened gets the number. So
 * the descriptor is looked at closely before a byte is sent.
 */

#include "capture/control.h"

#include "capture/capture.h"

#include <sysprof-clock.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ENV_CONTROL_FD   "SYSPROF_CONTROL_FD"
#define FIRST_DESCRIPTOR 3 /* standard input, output and error are never meant */
#define ANSWER_TIMEOUT   SYSPROF_NSEC_PER_SEC

static const char request[10] = "CreatRing";

static bool
has_option (int fd, int option, int expected)
{
  int value;
  socklen_t size = sizeof value;

  return getsockopt (fd, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

/* One of a pair that another process made: neither end has a name, as a connection to a server
 * would. */
static bool
is_pair_of_another (int fd)
{
  struct sockaddr_un address;
  socklen_t size = sizeof address;
  struct ucred peer;
  socklen_t peer_size = sizeof peer;

  if (getpeername (fd, (struct sockaddr *) &address, &size) < 0 || size > sizeof (sa_family_t))
    return false;

  return getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 &&
         peer.pid != getpid ();
}

int
sysprof_control_find (void)
{
  int fd = sysprof_capture_descriptor_from_env (ENV_CONTROL_FD, FIRST_DESCRIPTOR);

  if (fd < 0 || !has_option (fd, SO_DOMAIN, AF_UNIX) ||
      !has_option (fd, SO_TYPE, SOCK_STREAM) || !is_pair_of_another (fd))
    return -1;

  return fd;
}

/* False when the time is up or the socket failed. */
static bool
wait_for (int fd, short events, int64_t deadline)
{
  for (;;)
    {
      struct pollfd poll_fd = { .fd = fd, .events = events };
      int64_t left = deadline - sysprof_clock_get_current_time ();
      int n;

      if (left <= 0)
        return false;
      n = poll (&poll_fd, 1, (int) (left / 1000000) + 1);
      if (n > 0)
        return true;
      if (n == 0 || errno != EINTR)
        return false;
    }
}

static bool
send_request (int fd, int64_t deadline)
{
  size_t sent = 0;

  while (sent < sizeof request)
    {
      ssize_t n = send (fd, request + sent, sizeof request - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

      if (n > 0)
        sent += (size_t) n;
      else if (errno == EAGAIN ? !wait_for (fd, POLLOUT, deadline) : errno != EINTR)
        return false;
    }

  return true;
}

/* Takes the one descriptor of a message; closes all if there are more. */
static int
take_descriptor (struct msghdr *message)
{
  int taken = -1;
  size_t n_received = 0;

  for (struct cmsghdr *control = CMSG_FIRSTHDR (message); control != NULL;
       control = CMSG_NXTHDR (message, control))
    {
      size_t size;

      if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
        continue;
      size = control->cmsg_len - CMSG_LEN (0);
      for (size_t at = 0; at + sizeof (int) <= size; at += sizeof (int))
        {
          if (taken >= 0)
            (void) close (taken); /* not used */
          memcpy (&taken, CMSG_DATA (control) + at, sizeof taken);
          n_received++;
        }
    }

  if (n_received > 1 || (message->msg_flags & MSG_CTRUNC) != 0)
    {
      if (taken >= 0)
        (void) close (taken); /* not used */
      return -1;
    }

  return taken;
}

ControlReply
sysprof_control_request_ring (int control_fd, int *ring_fd)
{
  int64_t deadline = sysprof_clock_get_current_time () + ANSWER_TIMEOUT;

  if (!send_request (control_fd, deadline))
    return CONTROL_GONE;

  for (;;)
    {
      union
      {
        struct cmsghdr header;
        char space[CMSG_SPACE (sizeof (int))];
      } control;
      char byte;
      struct iovec iovec = { .iov_base = &byte, .iov_len = sizeof byte };
      struct msghdr message = {
        .msg_iov = &iovec,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
      };
      ssize_t n = recvmsg (control_fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

      if (n > 0)
        {
          *ring_fd = take_descriptor (&message);
          return *ring_fd >= 0 ? CONTROL_RING : CONTROL_REFUSED;
        }
      if (n == 0 ||
          (errno == EAGAIN ? !wait_for (control_fd, POLLIN, deadline) : errno != EINTR))
        return CONTROL_GONE;
    }
}

bool
sysprof_control_is_closed (int control_fd)
{
  struct pollfd poll_fd = { .fd = control_fd, .events = POLLIN };

  return poll (&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}
