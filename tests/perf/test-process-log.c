// SPDX-License-Identifier: GPL-3.0-or-later

/* The log of processes that started: order, ends, limits and namespaces. */

#include "../data/fixed-seed.h"
#include "perf/process-log.h"

#include <glib.h>

static void
test_gives_what_was_started_in_order (void)
{
  ProcessLog log = { 0 };
  StartedProcess process;

  sysprof_process_log_started (&log, 10, 100);
  sysprof_process_log_started (&log, 11, 101);
  g_assert_true (sysprof_process_log_take (&log, INT64_MAX, &process));
  g_assert_cmpint (process.pid, ==, 10);
  g_assert_cmpint (process.time, ==, 100);
  g_assert_true (sysprof_process_log_take (&log, INT64_MAX, &process));
  g_assert_cmpint (process.pid, ==, 11);
  g_assert_false (sysprof_process_log_take (&log, INT64_MAX, &process));
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

  g_assert_true (sysprof_process_log_take (&log, INT64_MAX, &process));
  g_assert_cmpint (process.pid, ==, 42);
  g_assert_false (sysprof_process_log_take (&log, INT64_MAX, &process));
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
      g_assert_true (sysprof_process_log_take (&log, INT64_MAX, &process));
      g_assert_cmpint (process.pid, ==, pid);
    }
  g_assert_false (sysprof_process_log_take (&log, INT64_MAX, &process));
}

static void
test_waits_until_they_are_old_enough (void)
{
  ProcessLog log = { 0 };
  StartedProcess process;

  sysprof_process_log_started (&log, 10, 100);
  sysprof_process_log_started (&log, 11, 200);
  g_assert_false (sysprof_process_log_take (&log, 100, &process));
  g_assert_true (sysprof_process_log_take (&log, 101, &process));
  g_assert_cmpint (process.pid, ==, 10);
  g_assert_false (sysprof_process_log_take (&log, 101, &process));
  g_assert_true (sysprof_process_log_take (&log, 201, &process));
  g_assert_cmpint (process.pid, ==, 11);
}

#define N_PIDS 2000

/* Against an array with a place for each pid. */
static void
test_knows_namespaces_of_those_that_live (void)
{
  g_autofree uint64_t *expected = g_new0 (uint64_t, N_PIDS + 1);
  g_autoptr (GRand) random = g_rand_new_with_seed ((guint32) g_test_rand_int ());
  ProcessLog log = { 0 };

  g_assert_null (sysprof_process_log_get_namespaces (&log, 1));
  for (int64_t time = 1; time < 50000; time++)
    {
      int32_t pid = g_rand_int_range (random, 1, N_PIDS + 1);
      Namespaces told = { 0 };
      const Namespaces *known;

      told.inode[NAMESPACE_MNT] = (uint64_t) g_rand_int_range (random, 1, 6);
      if (g_rand_int_range (random, 0, 3) != 0)
        {
          sysprof_process_log_set_namespaces (&log, pid, time, &told);
          expected[pid] = told.inode[NAMESPACE_MNT];
        }
      else
        {
          sysprof_process_log_ended (&log, pid);
          expected[pid] = 0;
        }

      pid = g_rand_int_range (random, 1, N_PIDS + 1);
      known = sysprof_process_log_get_namespaces (&log, pid);
      g_assert_cmpuint (known != NULL ? known->inode[NAMESPACE_MNT] : 0, ==, expected[pid]);
    }
  sysprof_process_log_clear (&log);
}

static void
test_keeps_the_later_namespaces (void)
{
  ProcessLog log = { 0 };
  Namespaces earlier = { .inode = { [NAMESPACE_MNT] = 1 } };
  Namespaces later = { .inode = { [NAMESPACE_MNT] = 2 } };

  sysprof_process_log_set_namespaces (&log, 7, 200, &later);
  sysprof_process_log_set_namespaces (&log, 7, 100, &earlier);
  g_assert_cmpuint (sysprof_process_log_get_namespaces (&log, 7)->inode[NAMESPACE_MNT], ==, 2);
  sysprof_process_log_clear (&log);
}

int
main (int argc, char **argv)
{
  test_init_with_fixed_seed (&argc, &argv);
  g_test_add_func ("/perf/process-log/gives-what-was-started-in-order",
                   test_gives_what_was_started_in_order);
  g_test_add_func ("/perf/process-log/forgets-what-has-ended", test_forgets_what_has_ended);
  g_test_add_func ("/perf/process-log/drops-the-oldest", test_drops_the_oldest);
  g_test_add_func ("/perf/process-log/waits-until-they-are-old-enough",
                   test_waits_until_they_are_old_enough);
  g_test_add_func ("/perf/process-log/knows-namespaces-of-those-that-live",
                   test_knows_namespaces_of_those_that_live);
  g_test_add_func ("/perf/process-log/keeps-the-later-namespaces",
                   test_keeps_the_later_namespaces);
  return g_test_run ();
}
