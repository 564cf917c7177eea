// SPDX-License-Identifier: GPL-3.0-or-later

/* Numbers with units, as a person would round them. */

#include "text/text.h"

static void
test_chooses_the_prefix_that_fits (void)
{
  static const struct
  {
    double value;
    const char *unit;
    const char *expected;
  } cases[] = {
    { 0, "bytes", "0 B" },
    { 999, "bytes", "999 B" },
    { 1000, "bytes", "1.00 kB" },
    { 9094912, "bytes", "9.09 MB" },
    { 90949120, "bytes", "90.9 MB" },
    { 999499, "bytes", "999 kB" },
    { 999600, "bytes", "1.00 MB" },
    { -626000000, "bytes", "-626 MB" },
    { 3.5e15, "bytes", "3,500 TB" },
    { 211e6, "bytes/s", "211 MB/s" },
    { 12, "ns", "12 ns" },
    { 572000000, "ns", "572 ms" },
    { 7200e9, "ns", "7,200 s" },
    { 4500000, "uAh", "4.50 Ah" },
    { 12.34, "%", "12.3 %" },
    { 100, "%", "100 %" },
    { 0.004, "%", "0.004 %" },
    { -17.9, "%/s", "-17.9 %/s" },
    { 61.5, "degC", "61.5 degC" },
    { 1234, "events", "1,234" },
    { 1.25, "", "1.25" },
    { 12345678, "", "12.3 M" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = sysprof_dup_quantity (cases[i].value, cases[i].unit);

      g_assert_cmpstr (text, ==, cases[i].expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/format/chooses-the-prefix-that-fits",
                   test_chooses_the_prefix_that_fits);
  return g_test_run ();
}
