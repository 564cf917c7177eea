// SPDX-License-Identifier: GPL-3.0-or-later

/* The machinery, with a source of the test's own: one line "NAME SUM" per instance, "total SUM" for all. */

#include "tests/record/counters/counter-bench.h"

static const CounterRow rows[] = {
  { "T", "Growth", "", COUNTER_GROWTH },
  { "T", "Rate", "", COUNTER_RATE, 10 },
  { "T", "All", "", COUNTER_TOTAL, .sum_of = 1 },
  { "T", "All Growth", "", COUNTER_GROWTH, .sum_of = 2 },
};

static const CounterRow instance_rows[] = {
  { "T", "Total %s", "%s", COUNTER_TOTAL },
  { "T", "Growth %s", "%s", COUNTER_GROWTH },
};

static bool
parse (unsigned path, Text text, CounterValues *values)
{
  Text line, name;
  uint64_t sum;

  while (sysprof_text_next_line (&text, &line))
    {
      if (!sysprof_text_until (&line, ' ', &name) || !sysprof_text_u64 (&line, &sum))
        return false;

      if (sysprof_text_equal (name, "total"))
        {
          sysprof_counter_values_set (values, 0, (double) sum);
          sysprof_counter_values_set (values, 1, (double) sum);
        }
      else
        {
          CounterInstance *instance = sysprof_counter_values_instance (values, name);

          if (instance == NULL)
            continue;
          sysprof_counter_instance_set (instance, 0, (double) sum);
          sysprof_counter_instance_set (instance, 1, (double) sum);
        }
    }
  return true;
}

static const SampledCounters counters = {
  .name = "test",
  .title = "test counters",
  .paths = { "/sums" },
  .interval = 500 * MSEC,
  .rows = rows,
  .n_rows = G_N_ELEMENTS (rows),
  .instance_rows = instance_rows,
  .n_instance_rows = G_N_ELEMENTS (instance_rows),
  .parse = parse,
};

static void
bench_begin (CounterBench *bench, const char *text)
{
  bench_init (bench);
  bench_write (bench, "/sums", text);
  bench_open (bench, &counters);
  bench_read (bench, 1);
}

static void
bench_step (CounterBench *bench, double seconds, const char *text)
{
  bench_write (bench, "/sums", text);
  bench_read (bench, seconds);
}

static void
test_growth_and_rate (void)
{
  CounterBench bench = { 0 };

  bench_begin (&bench, "total 100\n");
  bench_step (&bench, 1.5, "total 130\n");
  bench_step (&bench, 3.5, "total 140\n");

  bench_assert_series (&bench, "T", "Growth", "1.5=30 3.5=10");
  bench_assert_series (&bench, "T", "Rate", "1.5=600.000 3.5=50.000");
  bench_clear (&bench);
}

static void
test_sum_that_went_down_starts_anew (void)
{
  CounterBench bench = { 0 };

  bench_begin (&bench, "total 100\na 50\n");
  bench_step (&bench, 2, "total 7\na 3\n");
  bench_step (&bench, 3, "total 9\na 4\n");

  bench_assert_series (&bench, "T", "Growth", "3=2");
  bench_assert_series (&bench, "T", "Growth a", "3=1");
  bench_assert_series (&bench, "T", "All", "1=50 2=50 3=51");
  bench_clear (&bench);
}

static void
test_instances_come_and_go (void)
{
  CounterBench bench = { 0 };

  bench_begin (&bench, "a 10\nb 20\n");
  bench_step (&bench, 2, "a 11\nb 22\nc 1000\n");
  bench_step (&bench, 3, "a 12\nc 1005\n");
  bench_step (&bench, 4, "a 13\nb 500\nc 1006\n");
  bench_step (&bench, 5, "a 14\nb 503\nc 1007\n");

  bench_assert_series (&bench, "T", "Growth a", "2=1 3=1 4=1 5=1");
  bench_assert_series (&bench, "T", "Growth b", "2=2 5=3");
  bench_assert_series (&bench, "T", "Growth c", "3=5 4=1 5=1");
  bench_assert_series (&bench, "T", "Total b", "1=20 2=22 4=500 5=503");
  /* What b and c had counted before they were plugged in did not happen then. */
  bench_assert_series (&bench, "T", "All", "1=30 2=33 3=39 4=41 5=46");
  bench_assert_series (&bench, "T", "All Growth", "2=3 3=6 4=2 5=5");
  bench_clear (&bench);
}

static void
test_text_that_is_not_understood (void)
{
  CounterBench bench = { 0 };
  g_autoptr (GError) error = NULL;

  bench_begin (&bench, "total 100\n");
  bench_write (&bench, "/sums", "total 120\nnonsense\n");
  g_assert_false (
      sysprof_counter_sampler_read (bench.sampler, bench.writer, 2000000000, &error));
  g_assert_error (error, SYSPROF_ERROR, SYSPROF_ERROR_CORRUPT);
  g_assert_nonnull (strstr (error->message, "/sums"));
  bench_step (&bench, 3, "total 140\n");

  bench_assert_series (&bench, "T", "Growth", "3=40");
  bench_assert_series (&bench, "T", "Rate", "3=200.000");
  bench_clear (&bench);
}

static void
find_one (Privilege *machine, CounterValues *values)
{
  (void) sysprof_counter_values_instance (values, sysprof_text_from_string ("slow"));
  (void) sysprof_counter_values_instance (values, sysprof_text_from_string ("none"));
}

static void
parse_one (unsigned path, Text text, CounterInstance *instance)
{
  uint64_t number;

  if (sysprof_text_u64 (&text, &number))
    sysprof_counter_instance_set (instance, 0, (double) number);
}

/* No file is read in a nanosecond: each is slow, and given up when it was so three times. */
static void
test_slow_file_is_given_up (void)
{
  static const SampledCounters slow = {
    .name = "slow",
    .title = "slow counters",
    .interval = 500 * MSEC,
    .instance_rows = instance_rows,
    .n_instance_rows = 1,
    .find = find_one,
    .instance_paths = { "/sensors/%s" },
    .parse_instance = parse_one,
    .patience = 1,
  };
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (&bench, "/sensors/slow", "7\n");
  bench_open (&bench, &slow);
  bench_read (&bench, 1);
  bench_read (&bench, 2);
  bench_assert_complaint (&bench, NULL);
  bench_read (&bench, 3);
  bench_assert_complaint (&bench, "'slow' is no longer read");
  bench_read (&bench, 4);
  bench_assert_complaint (&bench, NULL);

  bench_assert_series (&bench, "T", "Total slow", "1=7 2=7 3=7");
  bench_clear (&bench);
}

static void
test_missing_file_is_an_error (void)
{
  CounterBench bench = { 0 };
  g_autoptr (GError) error = NULL;

  bench_init (&bench);
  bench.machine = sysprof_privilege_new_below (bench.root);
  g_assert_null (sysprof_counter_sampler_open (&counters, bench.machine, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "/sums"));
  g_assert_nonnull (strstr (error->message, "test counters"));
  bench_clear (&bench);
}

/* More than a frame may define, or set. */
static void
test_many_instances (void)
{
  CounterBench bench = { 0 };
  g_autoptr (GString) text = g_string_new (NULL);
  SysprofCaptureStat stat;

  for (int i = 0; i < 900; i++)
    g_string_append_printf (text, "device%d %d\n", i, i);
  bench_begin (&bench, text->str);
  bench_step (&bench, 2, text->str);

  sysprof_capture_writer_stat (bench.writer, &stat);
  g_assert_cmpint (stat.frame_count[SYSPROF_CAPTURE_FRAME_CTRDEF], ==, 15); /* 1804 / 127 */
  g_assert_cmpint (stat.frame_count[SYSPROF_CAPTURE_FRAME_CTRSET], ==, 1 + 2);
  bench_assert_series (&bench, "T", "Total device899", "1=899 2=899");
  bench_assert_series (&bench, "T", "Growth device0", "2=0");
  bench_clear (&bench);
}

/* New names all day, as containers bring them: memory stays bounded, and what stays is measured on. */
static void
test_names_without_end (void)
{
  CounterBench bench = { 0 };

  bench_begin (&bench, "a 1\n");
  for (int i = 0; i < 200; i++)
    {
      g_autoptr (GString) text = g_string_new ("a 1\n");

      for (int j = 0; j < 50; j++)
        g_string_append_printf (text, "veth%d.%d 1\n", i, j);
      bench_step (&bench, i + 2, text->str);
    }
  bench_step (&bench, 300, "a 8\n");

  {
    g_autofree char *series = bench_series (&bench, "T", "Growth a");

    g_assert_true (g_str_has_suffix (series, " 201=0 300=7"));
  }
  bench_clear (&bench);
}

static void
test_name_longer_than_the_field (void)
{
  CounterBench bench = { 0 };

  bench_begin (&bench, "a-name-that-is-much-longer-than-the-field-of-a-counter 1\n");
  bench_assert_series (&bench, "T", "Total a-name-that-is-much-longe", "1=1");
  bench_clear (&bench);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/counters/growth-and-rate", test_growth_and_rate);
  g_test_add_func ("/record/counters/sum-that-went-down", test_sum_that_went_down_starts_anew);
  g_test_add_func ("/record/counters/instances-come-and-go", test_instances_come_and_go);
  g_test_add_func ("/record/counters/text-not-understood", test_text_that_is_not_understood);
  g_test_add_func ("/record/counters/missing-file", test_missing_file_is_an_error);
  g_test_add_func ("/record/counters/slow-file", test_slow_file_is_given_up);
  g_test_add_func ("/record/counters/many-instances", test_many_instances);
  g_test_add_func ("/record/counters/names-without-end", test_names_without_end);
  g_test_add_func ("/record/counters/long-name", test_name_longer_than_the_field);
  return g_test_run ();
}
