// SPDX-License-Identifier: GPL-3.0-or-later

/* Lifetimes of transient kernel symbols from events in any order. */

#include "perf/kernel-symbol-log.h"

#include <string.h>

static void
add (KernelSymbolLog *log, int64_t time, uint64_t address, bool is_gone, const char *name)
{
  sysprof_kernel_symbol_log_add (log, time, address, 0x40, is_gone, name, strlen (name) + 1);
}

static void
assert_text (KernelSymbolLog *log, const char *expected)
{
  GString *text = sysprof_kernel_symbol_log_to_text (log);

  g_assert_cmpstr (text != NULL ? text->str : NULL, ==, expected);
  if (text != NULL)
    g_string_free (text, TRUE);
}

static void
test_nothing (void)
{
  KernelSymbolLog log = { 0 };

  assert_text (&log, NULL);
  sysprof_kernel_symbol_log_add (&log, 1, 0x1000, 0, false, "no size", 8);
  sysprof_kernel_symbol_log_add (&log, 1, 0x1000, 4, false, "", 1);
  sysprof_kernel_symbol_log_add (&log, 1, 0x1000, 4, false, "", 0);
  assert_text (&log, NULL);
  sysprof_kernel_symbol_log_clear (&log);
}

/* Rings of several CPUs are read one after the other. */
static void
test_in_any_order (void)
{
  KernelSymbolLog log = { 0 };

  add (&log, 50, 0xffffffffc0001000, false, "second");
  add (&log, 40, 0xffffffffc0001000, true, "first");
  add (&log, 90, 0xffffffffc0000000, true, "old");
  add (&log, 10, 0xffffffffc0001000, false, "first");
  assert_text (&log, "ffffffffc0000000 40 0 90 old\n"
                     "ffffffffc0001000 40 10 40 first\n"
                     "ffffffffc0001000 40 50 0 second\n");
  sysprof_kernel_symbol_log_clear (&log);
}

static void
test_missed_end_and_same_time (void)
{
  KernelSymbolLog log = { 0 };

  add (&log, 10, 0x1000, false, "a");
  add (&log, 20, 0x1000, false, "b"); /* the end of a was lost */
  add (&log, 30, 0x1000, false, "c");
  add (&log, 30, 0x1000, true, "b");
  add (&log, 40, 0x1000, true, "c");
  add (&log, 45, 0x1000, true, "d"); /* its begin was lost */
  assert_text (&log, "1000 40 10 20 a\n1000 40 20 30 b\n1000 40 30 40 c\n1000 40 0 45 d\n");
  sysprof_kernel_symbol_log_clear (&log);
}

static void
test_names_are_words (void)
{
  KernelSymbolLog log = { 0 };

  sysprof_kernel_symbol_log_add (&log, 1, 0x1000, 4, false, "a b\nc\377", 6);
  sysprof_kernel_symbol_log_add (&log, 1, 0x2000, 4, false, "cut here", 3);
  assert_text (&log, "1000 4 1 0 a?b?c?\n2000 4 1 0 cut\n");
  sysprof_kernel_symbol_log_clear (&log);
}

static void
test_what_is_gone_as_lines_of_the_kernels_list (void)
{
  KernelSymbolLog log = { 0 };
  g_autoptr (GByteArray) list = g_byte_array_new ();
  static const char kallsyms[] = "ffffffffc0001000 t stays\t[bpf]\n";

  g_byte_array_append (list, (const uint8_t *) kallsyms, (guint) strlen (kallsyms));
  add (&log, 10, 0xffffffffc0001000, false, "stays");
  add (&log, 20, 0x2000, true, "went");
  sysprof_kernel_symbol_log_append_gone (&log, list);
  g_byte_array_append (list, (const uint8_t *) "", 1);
  g_assert_cmpstr ((const char *) list->data + strlen (kallsyms), ==,
                   "0000000000002000 t went\t[bpf]\n");
  sysprof_kernel_symbol_log_clear (&log);
}

/* The kernel frees a program between the last event that was read and the reading of its list. */
static void
test_missing_in_the_kernels_list (void)
{
  static const char kallsyms[] = "garbage\nffffffffc0001000 t stays\t[bpf]\n";
  KernelSymbolLog log = { 0 };
  g_autoptr (GByteArray) list = g_byte_array_new ();

  g_byte_array_append (list, (const uint8_t *) kallsyms, (guint) strlen (kallsyms));
  add (&log, 10, 0xffffffffc0001000, false, "stays");
  add (&log, 20, 0xffffffffc0002000, false, "just_went");
  sysprof_kernel_symbol_log_append_gone (&log, list);
  g_byte_array_append (list, (const uint8_t *) "", 1);
  g_assert_cmpstr ((const char *) list->data + strlen (kallsyms), ==,
                   "ffffffffc0002000 t just_went\t[bpf]\n");
  sysprof_kernel_symbol_log_clear (&log);
}

static void
test_bounded (void)
{
  KernelSymbolLog log = { 0 };

  for (unsigned i = 0; i < KERNEL_SYMBOL_LOG_MOST + 3; i++)
    add (&log, i, 0x1000, i % 2, "x");
  g_assert_cmpuint (log.n_missed, ==, 3);
  sysprof_kernel_symbol_log_clear (&log);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/perf/kernel-symbol-log/nothing", test_nothing);
  g_test_add_func ("/perf/kernel-symbol-log/in-any-order", test_in_any_order);
  g_test_add_func ("/perf/kernel-symbol-log/missed-end-and-same-time",
                   test_missed_end_and_same_time);
  g_test_add_func ("/perf/kernel-symbol-log/names-are-words", test_names_are_words);
  g_test_add_func ("/perf/kernel-symbol-log/what-is-gone-as-lines-of-the-kernels-list",
                   test_what_is_gone_as_lines_of_the_kernels_list);
  g_test_add_func ("/perf/kernel-symbol-log/missing-in-the-kernels-list",
                   test_missing_in_the_kernels_list);
  g_test_add_func ("/perf/kernel-symbol-log/bounded", test_bounded);
  return g_test_run ();
}
