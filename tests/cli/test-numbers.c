// SPDX-License-Identifier: GPL-3.0-or-later

/* Numbers of the command line: units, bounds and nonsense. */

#include "cli/numbers.h"

static void
test_number_is_taken_whole_and_within_bounds (void)
{
  static const char *const refused[] = { "",   "0",  "11", "5x",  "-5",
                                         "+5", " 5", "5 ", "0x5", "99999999999999999999" };
  uint64_t value = 77;

  g_assert_true (sysprof_cli_read_number ("10", 1, 10, &value));
  g_assert_cmpuint (value, ==, 10);
  for (size_t i = 0; i < G_N_ELEMENTS (refused); i++)
    g_assert_false (sysprof_cli_read_number (refused[i], 1, 10, &value));
  g_assert_cmpuint (value, ==, 10);
}

static void
test_seconds_are_exact_to_the_nanosecond (void)
{
  static const struct
  {
    const char *text;
    int64_t nsec;
  } taken[] = {
    { "1", 1000000000 },
    { "0.5", 500000000 },
    { ".25", 250000000 },
    { "3.", 3000000000 },
    { "0.000000001", 1 },
    { "0.0000000019", 1 },
    { "5s", 5000000000 },
    { "1500ms", 1500000000 },
    { "2min", INT64_C (120000000000) },
    { "1.5m", INT64_C (90000000000) },
    { "0.5h", INT64_C (1800000000000) },
    { ".000001ms", 1 },
    { "876000h", INT64_C (3153600000) * 1000000000 },
    { "2.1", 2100000000 },
    { "3153600000", INT64_C (3153600000) * 1000000000 },
  };
  static const char *const refused[] = { "",    ".",   "-1",         "1e3",     "1,5",
                                         "s",   "0x1", "3153600001", "1.5.5",   "nan",
                                         "1 s", "1S",  "5us",        "876001h", "5sms" };
  int64_t nsec;

  for (size_t i = 0; i < G_N_ELEMENTS (taken); i++)
    {
      g_assert_true (sysprof_cli_read_duration (taken[i].text, &nsec));
      g_assert_cmpint (nsec, ==, taken[i].nsec);
    }
  for (size_t i = 0; i < G_N_ELEMENTS (refused); i++)
    g_assert_false (sysprof_cli_read_duration (refused[i], &nsec));
}

static void
test_sizes_have_units_of_1024 (void)
{
  static const struct
  {
    const char *text;
    uint64_t bytes;
  } taken[] = {
    { "1", 1 },        { "4096B", 4096 },   { "3K", 3072 },       { "2kB", 2048 },
    { "1M", 1048576 }, { "1MiB", 1048576 }, { "5g", 5368709120 }, { "1T", 1099511627776 },
  };
  static const char *const refused[] = { "",    "0",   "K",    "1X",
                                         "1KK", "-1K", "1.5M", "99999999999T",
                                         "1 K" };
  uint64_t bytes;

  for (size_t i = 0; i < G_N_ELEMENTS (taken); i++)
    {
      g_assert_true (sysprof_cli_read_size (taken[i].text, &bytes));
      g_assert_cmpuint (bytes, ==, taken[i].bytes);
    }
  for (size_t i = 0; i < G_N_ELEMENTS (refused); i++)
    g_assert_false (sysprof_cli_read_size (refused[i], &bytes));
}

static void
test_cpu_lists_name_single_ones_and_ranges (void)
{
  static const char *const refused[] = { "",    ",",  "0,", "8",  "2-1",
                                         "0-8", "-1", "a",  "0-", "0 1" };
  static const int expected[] = { 0, 2, 3, 7 };
  g_autoptr (GArray) cpus = g_array_new (FALSE, FALSE, sizeof (gint));

  g_assert_true (sysprof_cli_read_cpu_list ("0,2-3,7", 8, cpus));
  g_assert_cmpuint (cpus->len, ==, G_N_ELEMENTS (expected));
  for (size_t i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpint (g_array_index (cpus, gint, i), ==, expected[i]);
  for (size_t i = 0; i < G_N_ELEMENTS (refused); i++)
    g_assert_false (sysprof_cli_read_cpu_list (refused[i], 8, cpus));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/numbers/is-taken-whole-and-within-bounds",
                   test_number_is_taken_whole_and_within_bounds);
  g_test_add_func ("/cli/numbers/seconds-are-exact-to-the-nanosecond",
                   test_seconds_are_exact_to_the_nanosecond);
  g_test_add_func ("/cli/numbers/sizes-have-units-of-1024", test_sizes_have_units_of_1024);
  g_test_add_func ("/cli/numbers/cpu-lists-name-single-ones-and-ranges",
                   test_cpu_lists_name_single_ones_and_ranges);
  return g_test_run ();
}
