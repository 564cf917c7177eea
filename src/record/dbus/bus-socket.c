// SPDX-License-Identifier: GPL-3.0-or-later

/* Source: D-Bus Specification, "Message Protocol". */

#include "record/dbus/bus-socket.h"

#include "util/util.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_FDS         64 /* file descriptors received by one read; they are closed at once */
#define MOST_MESSAGE     (128 * 1024 * 1024) /* bytes; limit of the specification */
#define MOST_FIELDS_SIZE (64 * 1024 * 1024)  /* bytes; limit of the specification for arrays */

void
sysprof_bus_outgoing_free (void *data)
{
  BusOutgoing *out = data;

  g_free (out->bytes);
  sysprof_autofd_close (&out->fd);
  g_free (out);
}

bool
sysprof_bus_socket_send (int fd, BusOutgoing *out)
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
    n = sendmsg (fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return false;

  sysprof_autofd_close (&out->fd);
  out->fd = -1;
  out->sent += (size_t) n;
  errno = EAGAIN; /* in case of a partial write */
  return out->sent == out->size;
}

static void
drop_fds (struct msghdr *message)
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
          (void) close (fd); /* received descriptors are not used */
        }
    }
}

ssize_t
sysprof_bus_socket_receive (int fd, void *bytes, size_t size)
{
  struct iovec part = { bytes, size };
  union
  {
    char bytes[CMSG_SPACE (MOST_FDS * sizeof (int))];
    struct cmsghdr align;
  } control;
  struct msghdr message = { .msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes };
  ssize_t n;

  do
    n = recvmsg (fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n >= 0)
    drop_fds (&message);
  return n;
}

static uint32_t
read_u32 (const uint8_t *bytes, bool is_big_endian)
{
  uint32_t value;

  memcpy (&value, bytes, sizeof value);
  return is_big_endian ? GUINT32_FROM_BE (value) : GUINT32_FROM_LE (value);
}

size_t
sysprof_bus_message_size (const uint8_t *bytes)
{
  bool is_big_endian = bytes[0] == 'B';
  uint32_t body = read_u32 (bytes + 4, is_big_endian);
  uint32_t fields = read_u32 (bytes + 12, is_big_endian);
  uint64_t size = BUS_FIXED_SIZE + (((uint64_t) fields + 7) & ~UINT64_C (7)) + body;

  if ((bytes[0] != 'l' && bytes[0] != 'B') || bytes[3] != 1 || fields > MOST_FIELDS_SIZE ||
      size > MOST_MESSAGE)
    return 0;
  return (size_t) size;
}
