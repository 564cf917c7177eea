// SPDX-License-Identifier: GPL-3.0-or-later

/* Recordings beside a process in another mount namespace leave no child behind. */

#include "../recorder.h"
#include "record/processes/process-watcher.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define N_RECORDINGS 3

static void
stop (SysprofRecording *recording, gpointer data)
{
  (void) data;
  sysprof_recording_stop_async (recording, NULL, NULL, NULL);
}

/* Returns 0 where namespaces cannot be made. */
static pid_t
start_in_mount_namespace (void)
{
  int ready[2];
  guint8 byte = 0;
  pid_t pid;

  g_assert_no_errno (pipe (ready));
  pid = fork ();
  if (pid == 0)
    {
      (void) prctl (PR_SET_PDEATHSIG, SIGKILL);
      byte = unshare (geteuid () == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) == 0;
      if (write (ready[1], &byte, 1) != 1)
        _exit (1);
      for (;;)
        pause ();
    }
  g_assert_cmpint (pid, >, 0);
  close (ready[1]);
  g_assert_cmpint (read (ready[0], &byte, 1), ==, 1);
  close (ready[0]);
  if (byte == 0)
    {
      (void) kill (pid, SIGKILL);
      (void) waitpid (pid, NULL, 0);
    }
  return byte == 0 ? 0 : pid;
}

static void
test_leaves_no_zombies (void)
{
  pid_t pid = start_in_mount_namespace ();

  if (pid == 0)
    {
      g_test_skip ("no mount namespace can be made here");
      return;
    }

  for (unsigned i = 0; i < N_RECORDINGS; i++)
    {
      g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
      Recorded recorded = { .began = stop };
      siginfo_t info = { 0 };
      int fd = new_memory_file ();

      sysprof_profiler_add_instrument (profiler, sysprof_process_watcher_new ());
      record_and_wait (&recorded, profiler, new_writer_for (fd));
      recorded_clear (&recorded);
      close (fd);

      g_assert_no_errno (waitid (P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT));
      g_assert_cmpint (info.si_pid, ==, 0);
    }
  (void) kill (pid, SIGKILL);
  (void) waitpid (pid, NULL, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/container-ids/leaves-no-zombies", test_leaves_no_zombies);
  return g_test_run ();
}
