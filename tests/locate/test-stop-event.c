// SPDX-License-Identifier: GPL-3.0-or-later

/* A request to a child returns when it is canceled, also if it was canceled before. */

#include "inspect/elf-sandbox.h"
#include "locate/stop-event.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static bool
is_readable (const StopEvent *stop)
{
  struct pollfd wanted = { .fd = stop->fd, .events = POLLIN };

  return poll (&wanted, 1, 0) > 0;
}

static void
test_cancelling (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  StopEvent stop, late, none;

  sysprof_stop_event_init (&stop, cancellable);
  sysprof_stop_event_init (&none, NULL);
  g_assert_false (is_readable (&stop));
  g_assert_false (is_readable (&none));
  g_cancellable_cancel (cancellable);
  sysprof_stop_event_init (&late, cancellable);
  g_assert_true (is_readable (&stop));
  g_assert_true (is_readable (&late));
  g_assert_false (is_readable (&none));
  sysprof_stop_event_clear (&stop);
  sysprof_stop_event_clear (&late);
  sysprof_stop_event_clear (&none);
}

/* A child that does not reply. */
static void
test_waiting_ends (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  ElfSandbox sandbox = ELF_SANDBOX_INIT;
  ChildReply reply = CHILD_REPLY_INIT;
  int sockets[2];
  StopEvent stop;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), ==, 0);
  sysprof_stop_event_init (&stop, cancellable);
  sandbox.socket = sockets[0];
  sandbox.service = &sysprof_elf_service;
  sandbox.stop_fd = stop.fd;
  sandbox.has_stop_fd = true;
  g_cancellable_cancel (cancellable);
  g_assert_false (sysprof_child_wait_for_reply (
      &sandbox, NULL, sysprof_confined_child_deadline (G_MAXINT32), &reply));
  sysprof_stop_event_clear (&stop);
  g_assert_cmpint (close (sockets[0]), ==, 0);
  g_assert_cmpint (close (sockets[1]), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/stop-event/cancelling", test_cancelling);
  g_test_add_func ("/stop-event/waiting-ends", test_waiting_ends);
  return g_test_run ();
}
