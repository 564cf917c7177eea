// SPDX-License-Identifier: GPL-3.0-or-later

/* The text cursor: numbers, lines, words, and the end of the text. */

#include "util/text.h"

#include <glib.h>

static void
test_numbers_refuse_overflow_and_signs (void)
{
  static const char *const refused[] = { "", "-5", "x", "18446744073709551616" };
  uint64_t value;
  Text text;

  for (size_t i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      text = sysprof_text_from_string (refused[i]);
      g_assert_false (sysprof_text_u64 (&text, &value));
    }

  text = sysprof_text_from_string ("18446744073709551615 rest");
  g_assert_true (sysprof_text_u64 (&text, &value));
  g_assert_cmpuint (value, ==, UINT64_MAX);
  g_assert_true (sysprof_text_equal (text, " rest"));

  text = sysprof_text_from_string ("7fFf");
  g_assert_true (sysprof_text_hex (&text, &value));
  g_assert_cmpuint (value, ==, 0x7fff);
}

static void
test_lines_and_words (void)
{
  Text text = sysprof_text_from_string ("one  two\n\nlast");
  Text line, word;

  g_assert_true (sysprof_text_next_line (&text, &line));
  g_assert_true (sysprof_text_next_word (&line, &word));
  g_assert_true (sysprof_text_equal (word, "one"));
  g_assert_true (sysprof_text_next_word (&line, &word));
  g_assert_true (sysprof_text_equal (word, "two"));
  g_assert_false (sysprof_text_next_word (&line, &word));
  g_assert_true (sysprof_text_next_line (&text, &line));
  g_assert_cmpuint (sysprof_text_size (line), ==, 0);
  g_assert_true (sysprof_text_next_line (&text, &line));
  g_assert_true (sysprof_text_equal (line, "last"));
  g_assert_false (sysprof_text_next_line (&text, &line));
}

static void
test_never_reads_behind_end (void)
{
  const char bytes[] = { 'a', '=', '1', '2', '3', '9' };
  Text text = { bytes, bytes + 5 };
  uint64_t value;

  g_assert_true (sysprof_text_u64_after (text, "a=", &value));
  g_assert_cmpuint (value, ==, 123);
  g_assert_false (sysprof_text_u64_after (text, "b=", &value));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/numbers-refuse-overflow-and-signs",
                   test_numbers_refuse_overflow_and_signs);
  g_test_add_func ("/text/lines-and-words", test_lines_and_words);
  g_test_add_func ("/text/never-reads-behind-end", test_never_reads_behind_end);
  return g_test_run ();
}
