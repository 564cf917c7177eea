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

static const uint8_t byte = 1; /* each request */

static const ChildRequest small_request = { .bytes = &byte, .fd = -1 };

/* Reads one request, and nothing after it; it does not reply. */
static bool
read_no_more (ChildRequest *request, ChildReply *reply)
{
  uint8_t nothing;

  while (read (-1, &nothing, sizeof nothing) < 0)
    continue;
  return false;
}

static int
open_nothing (const ChildRequest *request, struct stat *info)
{
  return read_no_more (NULL, NULL) ? 0 : -1;
}

static const ChildService silent = { .request_size = 1, .handle = read_no_more };
static const ChildService silent_opener = { OPENER_SERVICE, .request_size = 1,
                                            .open = open_nothing };

static void
start (ConfinedChild *child)
{
  *child = (ConfinedChild) CONFINED_CHILD_INIT;
  g_assert_true (sysprof_confined_child_start (child, &silent));
  g_assert_true (sysprof_child_send (child, &small_request, 0));
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
  g_assert_false (sysprof_child_send (
      &child,
      &(ChildRequest){ .bytes = &byte, .payload = bytes, .payload_size = SIZE, .fd = -1 },
      sysprof_confined_child_deadline (100)));
  end (&child);
}

/* The deadline is so far away that the test would be ended before. */
static void
test_waiting_can_be_ended (void)
{
  int64_t deadline = sysprof_confined_child_deadline (INT32_MAX / 2);
  ChildReply reply = CHILD_REPLY_INIT;
  ConfinedChild child;

  start (&child);
  child.stop_fd = eventfd (1, EFD_CLOEXEC);
  child.has_stop_fd = true;
  g_assert_false (sysprof_child_wait_for_reply (&child, &small_request, deadline, &reply));
  close (child.stop_fd);
  end (&child);
}

#define N_BYTES 256
/* of the head of a reply, as child-service.c sends it */
#define HEAD_SIZE (2 * sizeof (uint32_t) + CHILD_MOST_PARTS * sizeof (uint64_t))

static bool
answer_with_bytes (ChildRequest *request, ChildReply *reply)
{
  uint8_t *bytes = malloc (N_BYTES);

  for (unsigned i = 0; bytes != NULL && i < N_BYTES; i++)
    bytes[i] = (uint8_t) i;
  sysprof_child_reply_set (reply, 0, bytes, N_BYTES);
  return bytes != NULL;
}

static const ChildService with_bytes = { .request_size = 1,
                                         .most = { N_BYTES },
                                         .handle = answer_with_bytes };

/* The caller was stopped, or had no CPU, until after the deadline. */
static void
test_answer_in_time_is_read_late (void)
{
  ConfinedChild child = CONFINED_CHILD_INIT;
  int64_t past = sysprof_confined_child_deadline (-1000);
  ChildReply reply = CHILD_REPLY_INIT;
  const uint8_t *answer;
  int n;

  g_assert_true (sysprof_confined_child_start (&child, &with_bytes));
  /* there is none */
  g_assert_false (sysprof_child_wait_for_reply (&child, &small_request, past, &reply));
  g_assert_true (sysprof_child_send (&child, &small_request, past));
  do
    g_assert_cmpint (ioctl (child.socket, FIONREAD, &n), ==, 0);
  while (n < (int) (HEAD_SIZE + N_BYTES));
  g_assert_true (sysprof_child_wait_for_reply (&child, &small_request, past, &reply));
  answer = reply.part[0].bytes;
  g_assert_cmpuint (reply.part[0].size, ==, N_BYTES);
  for (unsigned i = 0; i < N_BYTES; i++)
    g_assert_cmpuint (answer[i], ==, i);
  sysprof_child_reply_clear (&reply);
  g_assert_false (sysprof_child_wait_for_reply (&child, &small_request, past, &reply));
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
  Opener opener = OPENER_INIT;
  struct stat info;

  stop_fd = eventfd (0, EFD_CLOEXEC);
  g_assert_no_errno (pthread_atfork (NULL, stop_opening, NULL));
  opener.has_stop_fd = true;
  opener.stop_fd = stop_fd;
  for (unsigned i = 0; i < 2; i++)
    {
      g_assert_cmpint (sysprof_opener_ask (&opener, &silent_opener, 1, &byte, -1, &info), ==,
                       -1);
      g_assert_cmpint (errno, ==, ECANCELED);
    }
  sysprof_opener_clear (&opener);
  close (stop_fd);
  stop_fd = -1;
}

#define SOME_NSEC 20000000

/* Uses a CPU for a while, and reports this. */
static bool
compute (ChildRequest *request, ChildReply *reply)
{
  struct timespec used = { 0 };

  while (used.tv_sec == 0 && used.tv_nsec < SOME_NSEC)
    if (clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
      return false;
  return true;
}

/* Keeps its rights, to look at its clock. */
static const ChildService computing = { .request_size = 1,
                                        .timeout_msec = 60000,
                                        .keeps_rights = true,
                                        .handle = compute };

/* CPU time of a child still counts after it ended. */
static void
test_cpu_time_is_counted (void)
{
  int64_t before = sysprof_confined_children_cpu_time ();
  int64_t used;
  ConfinedChild child = CONFINED_CHILD_INIT;
  ChildReply reply;

  g_assert_true (sysprof_child_call (&child, &computing, &small_request, &reply));
  sysprof_child_reply_clear (&reply);
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

static bool
say_something (ChildRequest *request, ChildReply *reply)
{
  reply->status = ANSWER;
  return true;
}

static const ChildService speaking = { .request_size = 1,
                                       .timeout_msec = 60000,
                                       .last_status = ANSWER,
                                       .handle = say_something };

static void
check_that_it_answers (ConfinedChild *child)
{
  ChildReply reply;

  g_assert_true (sysprof_child_call (child, &speaking, &small_request, &reply));
  g_assert_cmpuint (reply.status, ==, ANSWER);
  sysprof_child_reply_clear (&reply);
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
