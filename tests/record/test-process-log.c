// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/process-log.h"

#include <glib.h>

static void
test_gives_what_was_started_in_order (void)
{
  ProcessLog log = { 0 };
  StartedProcess process;

  sysprof_process_log_started (&log, 10, 100);
  sysprof_process_log_started (&log, 11, 101);
  g_assert_true (sysprof_process_log_take (&log, &process));
  g_assert_cmpint (process.pid, ==, 10);
  g_assert_cmpint (process.time, ==, 100);
  g_assert_true (sysprof_process_log_take (&log, &process));
  g_assert_cmpint (process.pid, ==, 11);
  g_assert_false (sysprof_process_log_take (&log, &process));
}

static void
test_forgets_what_has_ended (void)
{
  ProcessLog log = { 0 };
  StartedProcess process;

  for (int32_t pid = 1; pid <= 100; pid++)
    sysprof_process_log_started (&log, pid, pid);
  for (int32_t pid = 1; pid <= 100; pid++)
    if (pid != 42)
      sysprof_process_log_ended (&log, pid);

  g_assert_true (sysprof_process_log_take (&log, &process));
  g_assert_cmpint (process.pid, ==, 42);
  g_assert_false (sysprof_process_log_take (&log, &process));
  sysprof_process_log_ended (&log, 42); /* what is not there does no harm */
}

static void
test_drops_the_oldest (void)
{
  ProcessLog log = { 0 };
  StartedProcess process;

  for (int32_t pid = 1; pid <= PROCESS_LOG_SIZE + 5; pid++)
    sysprof_process_log_started (&log, pid, pid);
  for (int32_t pid = 6; pid <= PROCESS_LOG_SIZE + 5; pid++)
    {
      g_assert_true (sysprof_process_log_take (&log, &process));
      g_assert_cmpint (process.pid, ==, pid);
    }
  g_assert_false (sysprof_process_log_take (&log, &process));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/process-log/gives-what-was-started-in-order",
                   test_gives_what_was_started_in_order);
  g_test_add_func ("/record/process-log/forgets-what-has-ended", test_forgets_what_has_ended);
  g_test_add_func ("/record/process-log/drops-the-oldest", test_drops_the_oldest);
  return g_test_run ();
}
