// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of threads from events in any order. */

#include "perf/thread-names.h"

#include <string.h>

#define MSEC INT64_C (1000000)

static void
add_running (ThreadNames *names, int32_t pid, int32_t tid, const char *name)
{
  sysprof_thread_names_add_running (names, 5, (ThreadId){ pid, tid }, name, strlen (name));
}

static void
fork_thread (ThreadNames *names, int64_t time, int32_t pid, int32_t tid, int32_t parent)
{
  sysprof_thread_names_add_forked (names, time, (ThreadId){ pid, tid },
                                   (ThreadId){ pid, parent });
}

static void
fork_process (ThreadNames *names, int64_t time, int32_t pid, ThreadId parent)
{
  sysprof_thread_names_add_forked (names, time, (ThreadId){ pid, pid }, parent);
}

static void
rename_thread (ThreadNames *names, int64_t time, int32_t pid, int32_t tid, const char *name)
{
  sysprof_thread_names_add_renamed (names, time, (ThreadId){ pid, tid }, name, strlen (name),
                                    false);
}

static void
exec_process (ThreadNames *names, int64_t time, int32_t pid, const char *name)
{
  sysprof_thread_names_add_renamed (names, time, (ThreadId){ pid, pid }, name, strlen (name),
                                    true);
}

static void
assert_text (ThreadNames *names, const char *expected)
{
  GString *text = sysprof_thread_names_to_text (names);

  g_assert_cmpstr (text != NULL ? text->str : NULL, ==, expected);
  if (text != NULL)
    g_string_free (text, TRUE);
  sysprof_thread_names_clear (names);
}

static void
test_nothing (void)
{
  ThreadNames names = { 0 };

  sysprof_thread_names_settle (&names, 10);
  assert_text (&names, NULL);
}

static void
test_running_threads_that_differ (void)
{
  ThreadNames names = { 0 };

  add_running (&names, 10, 10, "prog");
  add_running (&names, 10, 11, "prog");
  add_running (&names, 10, 12, "worker");
  assert_text (&names, "10 10 5 prog\n10 12 5 worker\n");
}

/* pthread_create() and pthread_setname_np(): the inherited name was never visible. */
static void
test_new_thread_names_itself (void)
{
  ThreadNames names = { 0 };

  add_running (&names, 10, 10, "prog");
  fork_thread (&names, 100, 10, 11, 10);
  rename_thread (&names, 100 + MSEC, 10, 11, "alpha");
  fork_thread (&names, 100 + 2 * MSEC, 10, 12, 11);
  fork_thread (&names, 100 + 3 * MSEC, 10, 13, 11);
  rename_thread (&names, 100 + 4 * MSEC, 10, 13, "beta");
  assert_text (&names, "10 10 5 prog\n10 11 1000100 alpha\n10 12 2000100 alpha\n"
                       "10 13 3000100 beta\n");
}

static void
test_late_rename_keeps_the_name_before (void)
{
  ThreadNames names = { 0 };

  add_running (&names, 10, 10, "prog");
  fork_thread (&names, 100, 10, 11, 10);
  rename_thread (&names, 100 + 900 * MSEC, 10, 11, "alpha");
  rename_thread (&names, 100 + 901 * MSEC, 10, 11, "prog");
  assert_text (&names, "10 10 5 prog\n10 11 100 prog\n10 11 900000100 alpha\n"
                       "10 11 901000100 prog\n");
}

static void
test_other_threads_keep_the_name_of_a_renamed_process (void)
{
  ThreadNames names = { 0 };

  fork_process (&names, 50, 10, (ThreadId){ 9, 9 });
  exec_process (&names, 60, 10, "prog");
  fork_thread (&names, 100, 10, 11, 10);
  rename_thread (&names, 200, 10, 10, "other");
  fork_thread (&names, 300, 10, 12, 10);
  assert_text (&names, "10 11 100 prog\n");
}

/* Its parent's process has another name than the thread that forked it. */
static void
test_child_of_a_named_thread (void)
{
  ThreadNames names = { 0 };

  add_running (&names, 10, 10, "prog");
  add_running (&names, 10, 11, "spawner");
  fork_process (&names, 100, 20, (ThreadId){ 10, 11 });
  exec_process (&names, 200, 20, "tool");
  fork_process (&names, 100, 30, (ThreadId){ 10, 10 });
  exec_process (&names, 200, 30, "tool");
  assert_text (&names, "10 10 5 prog\n10 11 5 spawner\n20 20 100 tool\n");
}

/* Rings of several CPUs are read one after the other. */
static void
test_in_any_order (void)
{
  ThreadNames names = { 0 };

  rename_thread (&names, 200, 10, 11, "alpha");
  fork_thread (&names, 300, 10, 12, 11);
  sysprof_thread_names_settle (&names, 50);
  fork_thread (&names, 100, 10, 11, 10);
  add_running (&names, 10, 10, "prog");
  sysprof_thread_names_settle (&names, 400);
  assert_text (&names, "10 10 5 prog\n10 11 200 alpha\n10 12 300 alpha\n");
}

static void
test_number_used_again (void)
{
  ThreadNames names = { 0 };

  add_running (&names, 10, 10, "prog");
  add_running (&names, 10, 11, "alpha");
  sysprof_thread_names_add_ended (&names, 100, (ThreadId){ 10, 11 });
  fork_thread (&names, 200, 10, 11, 10);
  assert_text (&names, "10 10 5 prog\n10 11 5 alpha\n10 11 200 prog\n");
}

/* A name is newer than what /proc says, whichever comes first. */
static void
test_events_are_newer_than_proc (void)
{
  ThreadNames names = { 0 };

  rename_thread (&names, 100, 10, 11, "new");
  sysprof_thread_names_settle (&names, 200);
  add_running (&names, 10, 10, "prog");
  add_running (&names, 10, 11, "old");
  assert_text (&names, "10 10 5 prog\n10 11 100 new\n");
}

static void
test_any_bytes (void)
{
  ThreadNames names = { 0 };

  add_running (&names, 10, 10, "a b\n\\c\377;d");
  sysprof_thread_names_add_renamed (&names, 9, (ThreadId){ 10, 11 }, "cut here", 3, false);
  assert_text (&names, "10 10 5 a b\\012\\134c\377;d\n10 11 9 cut\n");
}

static void
test_too_many (void)
{
  ThreadNames names = { 0 };

  add_running (&names, 1, 1, "prog");
  for (int32_t i = 0; i < THREAD_NAMES_MOST + 5; i++)
    rename_thread (&names, 10 + i, 1, 2 + i, "named");
  sysprof_thread_names_settle (&names, INT64_MAX);
  g_assert_cmpuint (names.lines->len, ==, THREAD_NAMES_MOST);
  g_assert_cmpuint (names.n_missed, ==, 6);
  sysprof_thread_names_clear (&names);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/thread-names/nothing", test_nothing);
  g_test_add_func ("/thread-names/running-threads-that-differ",
                   test_running_threads_that_differ);
  g_test_add_func ("/thread-names/new-thread-names-itself", test_new_thread_names_itself);
  g_test_add_func ("/thread-names/late-rename-keeps-the-name-before",
                   test_late_rename_keeps_the_name_before);
  g_test_add_func ("/thread-names/other-threads-keep-the-name-of-a-renamed-process",
                   test_other_threads_keep_the_name_of_a_renamed_process);
  g_test_add_func ("/thread-names/child-of-a-named-thread", test_child_of_a_named_thread);
  g_test_add_func ("/thread-names/in-any-order", test_in_any_order);
  g_test_add_func ("/thread-names/number-used-again", test_number_used_again);
  g_test_add_func ("/thread-names/events-are-newer-than-proc", test_events_are_newer_than_proc);
  g_test_add_func ("/thread-names/any-bytes", test_any_bytes);
  g_test_add_func ("/thread-names/too-many", test_too_many);

  return g_test_run ();
}
