// SPDX-License-Identifier: GPL-3.0-or-later

/* Counts of unwinding methods and truncation reasons per process. */

#include "perf/stack-tally.h"

#include <glib.h>

static void
test_counts_by_process (void)
{
  StackTally *tally = sysprof_stack_tally_new ();
  g_autofree char *text = NULL;

  for (int i = 0; i < 3; i++)
    sysprof_stack_tally_count (tally, 20, CAPTURE_FOUND_BY_TABLES);
  sysprof_stack_tally_count (tally, 9, CAPTURE_FOUND_NONE);
  sysprof_stack_tally_count (tally, 20, CAPTURE_FOUND_IN_A_COPY);
  sysprof_stack_tally_count (tally, 100, CAPTURE_FOUND_BY_FRAME_POINTERS);
  sysprof_stack_tally_count (tally, 9, CAPTURE_FOUND_BY_BOTH);
  sysprof_stack_tally_count (tally, 9, CAPTURE_FOUND_BY_BOTH);

  text = sysprof_stack_tally_dup_text (tally);
  g_assert_cmpstr (text, ==,
                   "9 tables+frame-pointer=2 none=1\n"
                   "20 tables=3 copy=1\n"
                   "100 frame-pointer=1\n");
  sysprof_stack_tally_free (tally);
}

/* Some have the same hash, and the table has room for few at first. */
static void
test_many_processes (void)
{
  StackTally *tally = sysprof_stack_tally_new ();
  g_autoptr (GString) expected = g_string_new (NULL);
  g_autofree char *text = NULL;

  for (int round = 0; round < 3; round++)
    for (int i = 1000; i > 0; i--)
      sysprof_stack_tally_count (tally, i * 256 + i % 3, CAPTURE_FOUND_BY_TABLES);
  for (int i = 1; i <= 1000; i++)
    g_string_append_printf (expected, "%d tables=3\n", i * 256 + i % 3);

  text = sysprof_stack_tally_dup_text (tally);
  g_assert_cmpstr (text, ==, expected->str);
  sysprof_stack_tally_free (tally);
}

static void
test_is_empty_without_samples (void)
{
  StackTally *tally = sysprof_stack_tally_new ();
  g_autofree char *text = sysprof_stack_tally_dup_text (tally);

  g_assert_cmpstr (text, ==, "");
  sysprof_stack_tally_free (tally);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/perf/stack-tally/counts-by-process", test_counts_by_process);
  g_test_add_func ("/perf/stack-tally/many-processes", test_many_processes);
  g_test_add_func ("/perf/stack-tally/is-empty-without-samples", test_is_empty_without_samples);
  return g_test_run ();
}
