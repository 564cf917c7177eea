// SPDX-License-Identifier: GPL-3.0-or-later

/* The recorder's end of the control socket, with requests as programs send them and as they
 * must not. */

#include "rings/rings.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sysprof-capture.h>
#include <unistd.h>

static const char request[10] = "CreatRing";

typedef struct
{
  SysprofCaptureWriter *writer;
  RingSet *rings;
  ControlServer *server;
  int fd; /* the program's end */
} Fixture;

static void
set_up (Fixture *self, const void *data)
{
  int ends[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
                   ==, 0);
  self->fd = ends[1];
  self->writer = sysprof_capture_writer_new_from_fd (memfd_create ("capture", MFD_CLOEXEC), 0);
  self->rings = sysprof_ring_set_new (self->writer, NULL, NULL);
  self->server = sysprof_control_server_new (ends[0], self->rings);
}

static void
tear_down (Fixture *self, const void *data)
{
  sysprof_control_server_free (self->server);
  sysprof_ring_set_free (self->rings);
  sysprof_capture_writer_unref (self->writer);
  if (self->fd >= 0)
    close (self->fd);
}

/* The descriptor of one reply: -1 = a reply without, -2 = no reply. */
static int
receive (Fixture *self)
{
  union
  {
    struct cmsghdr header;
    char space[CMSG_SPACE (4 * sizeof (int))];
  } control;
  char byte = 'x';
  struct iovec bytes = { &byte, 1 };
  struct msghdr message = { .msg_iov = &bytes,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control };
  struct cmsghdr *first;
  int fd;

  if (recvmsg (self->fd, &message, MSG_CMSG_CLOEXEC) <= 0)
    return -2;
  g_assert_cmpint (byte, ==, 0);
  first = CMSG_FIRSTHDR (&message);
  if (first == NULL)
    return -1;
  g_assert_cmpint (first->cmsg_type, ==, SCM_RIGHTS);
  g_assert_cmpuint (first->cmsg_len, ==, CMSG_LEN (sizeof (int)));
  memcpy (&fd, CMSG_DATA (first), sizeof fd);
  return fd;
}

static void
send_bytes (Fixture *self, const char *bytes, size_t size)
{
  g_assert_cmpint (send (self->fd, bytes, size, 0), ==, (ssize_t) size);
}

static void
test_replies_with_a_ring (Fixture *self, const void *data)
{
  const off_t page_size = sysconf (_SC_PAGESIZE);
  uint32_t header[5];
  struct stat info;
  int fd;

  send_bytes (self, request, sizeof request);
  g_assert_cmpint (sysprof_control_server_answer (self->server), ==, CONTROL_READING);
  fd = receive (self);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fstat (fd, &info), ==, 0);
  g_assert_cmpint (info.st_size, ==, 64 * page_size);
  g_assert_cmpint (pread (fd, header, sizeof header, 0), ==, sizeof header);
  g_assert_cmpuint (header[0] | header[1] | header[4], ==, 0);
  g_assert_cmpuint (header[2], ==, page_size);
  g_assert_cmpuint (header[3], ==, 63 * page_size);
  g_assert_cmpuint (sysprof_ring_set_get_n (self->rings), ==, 1);
  close (fd);
}

static void
test_rings_cannot_be_truncated (Fixture *self, const void *data)
{
  int fd;

  send_bytes (self, request, sizeof request);
  (void) sysprof_control_server_answer (self->server);
  fd = receive (self);
  g_assert_cmpint (ftruncate (fd, 0), ==, -1);
  g_assert_cmpint (errno, ==, EPERM);
  close (fd);
}

static void
test_joins_pieces_of_requests (Fixture *self, const void *data)
{
  for (size_t i = 0; i < sizeof request; i++)
    {
      g_assert_cmpint (receive (self), ==, -2);
      send_bytes (self, request + i, 1);
      g_assert_cmpint (sysprof_control_server_answer (self->server), ==, CONTROL_READING);
    }
  close (receive (self));
  g_assert_cmpuint (sysprof_ring_set_get_n (self->rings), ==, 1);
}

static void
test_answers_queued_requests_later (Fixture *self, const void *data)
{
  unsigned n_received = 0;
  bool was_full = false;

  /* More than the socket holds replies for. */
  for (unsigned i = 0; i < 1000; i++)
    {
      ControlState state;

      if (send (self->fd, request, sizeof request, 0) != sizeof request)
        break;
      state = sysprof_control_server_answer (self->server);
      g_assert_cmpint (state, !=, CONTROL_CLOSED);
      was_full |= state == CONTROL_WRITING;
    }
  g_assert_true (was_full);

  for (int fd; (fd = receive (self)) != -2; n_received++)
    {
      g_assert_cmpint (fd, >=, 0);
      close (fd);
      (void) sysprof_control_server_answer (self->server);
    }
  g_assert_cmpuint (n_received, ==, sysprof_ring_set_get_n (self->rings));
}

static void
test_closes_on_unknown_requests (Fixture *self, const void *data)
{
  static const char *const requests[] = { "CreatRink", "creatRing", "X", "CreatRingX" };

  for (size_t i = 0; i < G_N_ELEMENTS (requests); i++)
    {
      send_bytes (self, requests[i], strlen (requests[i]));
      g_assert_cmpint (sysprof_control_server_answer (self->server), ==, CONTROL_CLOSED);
      tear_down (self, NULL);
      set_up (self, NULL);
    }
}

static void
test_ignores_descriptors (Fixture *self, const void *data)
{
  union
  {
    struct cmsghdr header;
    char space[CMSG_SPACE (sizeof (int))];
  } control = { 0 };
  struct iovec bytes = { (char *) request, sizeof request };
  struct msghdr message = { .msg_iov = &bytes,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control };
  int pipe_ends[2];
  char byte;

  g_assert_cmpint (pipe (pipe_ends), ==, 0);
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN (sizeof (int));
  memcpy (CMSG_DATA (&control.header), &pipe_ends[1], sizeof (int));
  g_assert_cmpint (sendmsg (self->fd, &message, 0), ==, sizeof request);
  close (pipe_ends[1]);
  g_assert_cmpint (sysprof_control_server_answer (self->server), ==, CONTROL_READING);
  close (receive (self));
  /* the recorder has closed the last writing end */
  g_assert_cmpint (read (pipe_ends[0], &byte, 1), ==, 0);
  close (pipe_ends[0]);
}

static void
test_sees_the_end (Fixture *self, const void *data)
{
  close (self->fd);
  self->fd = -1;
  g_assert_cmpint (sysprof_control_server_answer (self->server), ==, CONTROL_CLOSED);
}

static void
test_refuses_too_many_rings (Fixture *self, const void *data)
{
  for (unsigned i = 0; i < 4096; i++)
    close (sysprof_ring_set_add (self->rings, getpid ()));
  send_bytes (self, request, sizeof request);
  g_assert_cmpint (sysprof_control_server_answer (self->server), ==, CONTROL_READING);
  g_assert_cmpint (receive (self), ==, -1);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *self, const void *data);
  } tests[] = {
    { "replies-with-a-ring", test_replies_with_a_ring },
    { "rings-cannot-be-truncated", test_rings_cannot_be_truncated },
    { "joins-pieces-of-requests", test_joins_pieces_of_requests },
    { "answers-queued-requests-later", test_answers_queued_requests_later },
    { "closes-on-unknown-requests", test_closes_on_unknown_requests },
    { "ignores-descriptors", test_ignores_descriptors },
    { "sees-the-end", test_sees_the_end },
    { "refuses-too-many-rings", test_refuses_too_many_rings },
  };

  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path = g_strconcat ("/rings/control-server/", tests[i].name, NULL);

      g_test_add (path, Fixture, NULL, set_up, tests[i].test, tear_down);
    }
  return g_test_run ();
}
