// SPDX-License-Identifier: GPL-3.0-or-later

/* A child that does not keep to the rules costs time, but not without end. */

#include "util/util.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE (16u << 20) /* bytes: far more than a socket holds */

/* Reads one byte, and nothing after it; it does not reply. */
static void
read_no_more (int socket)
{
  uint8_t byte;

  (void) sysprof_confined_child_read (socket, &byte, sizeof byte);
  for (;;)
    (void) !read (-1, &byte, sizeof byte);
}

static void
start (ConfinedChild *child)
{
  const uint8_t byte = 1;

  *child = (ConfinedChild) CONFINED_CHILD_INIT;
  g_assert_true (sysprof_confined_child_start (child, read_no_more));
  g_assert_true (sysprof_confined_child_send_request (child, &byte, sizeof byte, -1));
}

/* Ends it, and sees that it is not there any more. */
static void
end (ConfinedChild *child)
{
  pid_t pid = child->pid;

  sysprof_confined_child_end (child);
  g_assert_cmpint (child->pid, ==, 0);
  g_assert_cmpint (waitpid (pid, NULL, WNOHANG), ==, -1);
  g_assert_cmpint (errno, ==, ECHILD);
}

static void
test_sending_has_a_deadline (void)
{
  g_autofree uint8_t *bytes = g_malloc0 (SIZE);
  ConfinedChild child;

  start (&child);
  g_assert_false (
      sysprof_confined_child_send (&child, sysprof_confined_child_deadline (100), bytes, SIZE));
  end (&child);
}

/* The deadline is so far away that the test would be ended before. */
static void
test_waiting_can_be_ended (void)
{
  int64_t deadline = sysprof_confined_child_deadline (INT32_MAX / 2);
  ConfinedChild child;
  uint8_t answer;

  start (&child);
  child.stop_fd = eventfd (1, EFD_CLOEXEC);
  child.has_stop_fd = true;
  g_assert_false (sysprof_confined_child_receive (&child, deadline, &answer, sizeof answer));
  close (child.stop_fd);
  end (&child);
}

static void
answer_byte_by_byte (int socket)
{
  uint8_t bytes[256];

  (void) sysprof_confined_child_read (socket, bytes, 1);
  for (unsigned i = 0; i < sizeof bytes; i++)
    if (!sysprof_write_all (socket, &(uint8_t){ (uint8_t) i }, 1))
      return;
  (void) sysprof_confined_child_read (socket, bytes, 1);
}

/* The caller was stopped, or had no CPU, until after the deadline. */
static void
test_answer_in_time_is_read_late (void)
{
  ConfinedChild child = CONFINED_CHILD_INIT;
  int64_t past = sysprof_confined_child_deadline (-1000);
  uint8_t answer[256] = { 0 };
  int n;

  g_assert_true (sysprof_confined_child_start (&child, answer_byte_by_byte));
  g_assert_false (sysprof_confined_child_receive (&child, past, answer, 1)); /* there is none */
  g_assert_true (sysprof_confined_child_send_request (&child, answer, 1, -1));
  do
    g_assert_cmpint (ioctl (child.socket, FIONREAD, &n), ==, 0);
  while (n < (int) sizeof answer);
  g_assert_true (sysprof_confined_child_receive (&child, past, answer, sizeof answer));
  for (unsigned i = 0; i < sizeof answer; i++)
    g_assert_cmpuint (answer[i], ==, i);
  g_assert_false (sysprof_confined_child_receive (&child, past, answer, 1));
  end (&child);
}

static int stop_fd = -1; /* readable as soon as a child was started; -1 = none */

static void
stop_opening (void)
{
  const uint64_t one = 1;

  if (stop_fd >= 0)
    (void) sysprof_write_all (stop_fd, &one, sizeof one);
}

/* Not the patience with one that does not answer is at its end, but that of who asks: no place is to blame. */
static void
test_opening_can_be_ended (void)
{
  const uint8_t request = 1;
  Opener opener = OPENER_INIT;
  struct stat info;

  stop_fd = eventfd (0, EFD_CLOEXEC);
  g_assert_no_errno (pthread_atfork (NULL, stop_opening, NULL));
  opener.has_stop_fd = true;
  opener.stop_fd = stop_fd;
  for (unsigned i = 0; i < 2; i++)
    {
      g_assert_cmpint (
          sysprof_opener_ask (&opener, read_no_more, 1, &request, sizeof request, -1, &info),
          ==, -1);
      g_assert_cmpint (errno, ==, ECANCELED);
    }
  sysprof_opener_clear (&opener);
  close (stop_fd);
  stop_fd = -1;
}

#define SOME_NSEC 20000000

/* Uses a CPU for a while, reports this, and waits. */
static void
compute (int socket)
{
  struct timespec used = { 0 };
  uint8_t byte = 1;

  while (used.tv_sec == 0 && used.tv_nsec < SOME_NSEC)
    if (clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
      return;
  (void) sysprof_confined_child_send_answer (socket, &byte, sizeof byte, -1);
  (void) sysprof_confined_child_read (socket, &byte, sizeof byte);
}

/* CPU time of a child still counts after it ended. */
static void
test_cpu_time_is_counted (void)
{
  int64_t before = sysprof_confined_children_cpu_time ();
  int64_t used;
  ConfinedChild child = CONFINED_CHILD_INIT;
  uint8_t answer;

  child.keeps_rights = true; /* to look at its clock */
  g_assert_true (sysprof_confined_child_start (&child, compute));
  g_assert_true (sysprof_confined_child_receive (
      &child, sysprof_confined_child_deadline (60000), &answer, sizeof answer));
  used = sysprof_confined_children_cpu_time () - before;
  end (&child);
  if (used == 0)
    {
      g_test_skip ("the clock of another process cannot be read here");
      return;
    }

  g_assert_cmpint (used, >=, SOME_NSEC);
  g_assert_cmpint (sysprof_confined_children_cpu_time () - before, >=, used);
  used = sysprof_confined_children_cpu_time ();
  g_assert_cmpint (sysprof_confined_children_cpu_time (), ==, used);
}

#define ANSWER 42

static void
say_something (int socket)
{
  uint8_t byte = ANSWER;

  (void) sysprof_confined_child_send_answer (socket, &byte, sizeof byte, -1);
  (void) sysprof_confined_child_read (socket, &byte, sizeof byte);
}

static void
check_that_it_answers (ConfinedChild *child)
{
  uint8_t answer = 0;

  g_assert_true (sysprof_confined_child_start (child, say_something));
  g_assert_true (sysprof_confined_child_receive (child, sysprof_confined_child_deadline (60000),
                                                 &answer, sizeof answer));
  g_assert_cmpuint (answer, ==, ANSWER);
}

/* The children of this process now. */
static GArray *
list_children (void)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/task/%d/children", (int) gettid ());
  g_autofree char *text = NULL;
  g_auto (GStrv) words = NULL;
  GArray *children;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return NULL;

  children = g_array_new (FALSE, FALSE, sizeof (pid_t));
  words = g_strsplit (text, " ", -1);
  for (char **word = words; *word != NULL; word++)
    {
      pid_t pid = atoi (*word);

      if (pid != 0)
        g_array_append_val (children, pid);
    }
  return children;
}

static bool
has_child (const GArray *children, pid_t pid)
{
  for (guint i = 0; i < children->len; i++)
    if (g_array_index (children, pid_t, i) == pid)
      return true;
  return false;
}

/* They do what others do that are forked when they are started, and none is left over. Children that were left to themselves
 * before end at any time. */
static void
test_prepared_ones_are_taken (void)
{
  ConfinedChild confined = CONFINED_CHILD_INIT, trusted = CONFINED_CHILD_INIT;
  ConfinedChild late = CONFINED_CHILD_INIT, later = CONFINED_CHILD_INIT;
  g_autoptr (GArray) before = list_children (), prepared = NULL;

  sysprof_confined_children_prepare (3);
  prepared = list_children ();
  trusted.keeps_rights = true;
  check_that_it_answers (&confined);
  check_that_it_answers (&trusted);
  if (before != NULL && prepared != NULL)
    {
      g_assert_true (has_child (prepared, confined.pid) && !has_child (before, confined.pid));
      g_assert_true (has_child (prepared, trusted.pid) && !has_child (before, trusted.pid));
    }
  sysprof_confined_children_dismiss ();
  check_that_it_answers (&late);

  end (&confined);
  end (&trusted);
  end (&late);
  for (guint i = 0; before != NULL && prepared != NULL && i < prepared->len; i++)
    {
      pid_t pid = g_array_index (prepared, pid_t, i);

      if (has_child (before, pid))
        continue;
      g_assert_cmpint (waitpid (pid, NULL, WNOHANG), ==, -1);
      g_assert_cmpint (errno, ==, ECHILD);
    }
  check_that_it_answers (&later);
  end (&later);
}

/* Somebody may have ended it: another one is forked. */
static void
test_a_prepared_one_may_be_gone (void)
{
  ConfinedChild child = CONFINED_CHILD_INIT;
  g_autoptr (GArray) prepared = NULL;
  siginfo_t info;

  sysprof_confined_children_prepare (1);
  prepared = list_children ();
  if (prepared == NULL)
    {
      sysprof_confined_children_dismiss ();
      g_test_skip ("this kernel does not tell children");
      return;
    }

  g_assert_cmpuint (prepared->len, ==, 1);
  g_assert_no_errno (kill (g_array_index (prepared, pid_t, 0), SIGKILL));
  g_assert_no_errno (
      waitid (P_PID, (id_t) g_array_index (prepared, pid_t, 0), &info, WEXITED | WNOWAIT));
  check_that_it_answers (&child);
  end (&child);
  sysprof_confined_children_dismiss ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/util/children/confined-child/a-prepared-one-may-be-gone",
                   test_a_prepared_one_may_be_gone);
  g_test_add_func ("/util/children/confined-child/answer-in-time-is-read-late",
                   test_answer_in_time_is_read_late);
  g_test_add_func ("/util/children/confined-child/cpu-time-is-counted",
                   test_cpu_time_is_counted);
  g_test_add_func ("/util/children/confined-child/opening-can-be-ended",
                   test_opening_can_be_ended);
  g_test_add_func ("/util/children/confined-child/prepared-ones-are-taken",
                   test_prepared_ones_are_taken);
  g_test_add_func ("/util/children/confined-child/sending-has-a-deadline",
                   test_sending_has_a_deadline);
  g_test_add_func ("/util/children/confined-child/waiting-can-be-ended",
                   test_waiting_can_be_ended);
  return g_test_run ();
}
