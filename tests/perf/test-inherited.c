// SPDX-License-Identifier: GPL-3.0-or-later

/* Events of threads that start others all the time: the kernel hands them on, and exchanges them where one follows the other. */

#include "perf/events/event.h"
#include "perf/session.h"
#include "util/util.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS       30
#define FREQUENCY    1000
#define ENOUGH       5
#define MOST_SECONDS 30 /* on a machine that has other things to do; else a few milliseconds */

static volatile unsigned sink;

static void
spin (unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    sink += i;
}

static void *
run_short (void *data)
{
  spin (1000);
  return NULL;
}

/* Never returns: it is killed. */
static void *
run_starter (void *data)
{
  for (;;)
    {
      pthread_t thread;
      pid_t child = fork ();

      if (child == 0)
        _exit (0);
      (void) waitpid (child, NULL, 0);
      if (pthread_create (&thread, NULL, run_short, NULL) == 0)
        pthread_join (thread, NULL);
      spin (20000);
    }
  return NULL;
}

static pid_t
start_program (void)
{
  int told[2];
  pid_t pid;

  g_assert_cmpint (pipe (told), ==, 0);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      pthread_t thread;

      (void) prctl (PR_SET_PDEATHSIG, SIGKILL);
      if (pthread_create (&thread, NULL, run_starter, NULL) != 0 ||
          write (told[1], "r", 1) != 1)
        _exit (1);
      for (;;)
        pause ();
    }

  (void) close (told[1]);
  g_assert_cmpint (read (told[0], &(char){ 0 }, 1), ==, 1);
  (void) close (told[0]);
  return pid;
}

static void
list_two (pid_t pid, pid_t tasks[2])
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/task", pid);
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  const char *name;
  int n = 0;

  /* The one that starts others was the first to be started. */
  while (n < 2 && (name = g_dir_read_name (directory)) != NULL)
    tasks[n++] = atoi (name);
  g_assert_cmpint (n, ==, 2);
}

static void
take_record (const struct perf_event_header *record, void *data)
{
  unsigned *n_samples = data;

  *n_samples += record->type == PERF_RECORD_SAMPLE;
}

static void
test_are_on (void)
{
  Privilege *privilege = sysprof_privilege_new ();
  pid_t tasks[2];
  pid_t pid = start_program ();

  for (unsigned round = 0; round < ROUNDS; round++)
    {
      g_autoptr (GError) error = NULL;
      unsigned n_samples = 0;
      PerfSessionOptions options = {
        .target = PERF_TARGET_TASKS,
        .cgroup_fd = -1,
        .tasks = tasks,
        .n_tasks = G_N_ELEMENTS (tasks),
        .samples = true,
        .no_stacks = true,
        .follows_threads = true,
        .frequency = FREQUENCY,
        .func = take_record,
        .func_data = &n_samples,
      };
      PerfSession *session;

      list_two (pid, tasks);
      sysprof_perf_event_init_cpu_clock (&options.event);
      session = sysprof_perf_session_open (&options, privilege, &error);
      if (g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_DENIED) ||
          g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED))
        {
          g_test_skip (error->message);
          break;
        }
      g_assert_no_error (error);

      sysprof_perf_session_enable (session);
      for (int64_t end = g_get_monotonic_time () + MOST_SECONDS * G_TIME_SPAN_SECOND;
           n_samples < ENOUGH && g_get_monotonic_time () < end;)
        {
          (void) poll (NULL, 0, 10);
          sysprof_perf_session_drain (session);
        }
      g_assert_cmpuint (n_samples, >=, ENOUGH);
      sysprof_perf_session_disable (session);
      sysprof_perf_session_close (session);
    }

  (void) kill (pid, SIGKILL);
  (void) waitpid (pid, NULL, 0);
  sysprof_privilege_unref (privilege);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/perf/inherited/are-on", test_are_on);
  return g_test_run ();
}
