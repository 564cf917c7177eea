// SPDX-License-Identifier: GPL-3.0-or-later

/* Texts of offsets and spans of time. */

#include <sysprof.h>

static void
test_names_offsets_in_fitting_units (void)
{
  static const struct
  {
    gint64 offset;
    const char *text;
  } cases[] = {
    { 0, "0.000s" },          { 1, "0.001μs" },       { 1500, "1.500μs" },
    { 999999, "999.999μs" },  { 1000000, "1.000ms" }, { 2500000000, "2.500s" },
    { -2500000, "-2.500ms" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = sysprof_time_offset_to_string (cases[i].offset);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

static void
test_names_spans (void)
{
  g_autofree char *instant =
      sysprof_time_span_to_string (&(SysprofTimeSpan){ 1000000, 1000000 });
  g_autofree char *span =
      sysprof_time_span_to_string (&(SysprofTimeSpan){ 1000000, 3000000000 });

  g_assert_cmpstr (instant, ==, "1.000ms");
  g_assert_cmpstr (span, ==, "1.000ms (2.999s)");
}

static void
test_computes (void)
{
  SysprofTimeSpan span = { 150, 250 };
  SysprofTimeSpan before = { 0, 100 };
  float values[2];

  g_assert_cmpint (sysprof_time_span_duration (span), ==, 100);
  g_assert_cmpint (sysprof_time_span_relative_to (span, 100).begin_nsec, ==, 50);
  g_assert_cmpint (sysprof_time_span_relative_to (span, 100).end_nsec, ==, 150);
  g_assert_cmpint (sysprof_time_span_order ((SysprofTimeSpan){ 9, 4 }).begin_nsec, ==, 4);
  g_assert_cmpint (sysprof_time_span_order ((SysprofTimeSpan){ 9, 4 }).end_nsec, ==, 9);

  sysprof_time_span_normalize (span, (SysprofTimeSpan){ 100, 300 }, values);
  g_assert_cmpfloat (values[0], ==, 0.25f);
  g_assert_cmpfloat (values[1], ==, 0.75f);

  g_assert_true (sysprof_time_span_clamp (&span, (SysprofTimeSpan){ 200, 300 }));
  g_assert_true (sysprof_time_span_equal (&span, &(SysprofTimeSpan){ 200, 250 }));
  g_assert_false (sysprof_time_span_clamp (&before, (SysprofTimeSpan){ 100, 300 }));
  g_assert_true (sysprof_time_span_equal (&before, &(SysprofTimeSpan){ 0, 0 }));
  g_assert_false (sysprof_time_span_equal (&before, NULL));
  g_assert_true (sysprof_time_span_equal (NULL, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/time-span/names-offsets-in-fitting-units",
                   test_names_offsets_in_fitting_units);
  g_test_add_func ("/time-span/names-spans", test_names_spans);
  g_test_add_func ("/time-span/computes", test_computes);
  return g_test_run ();
}
