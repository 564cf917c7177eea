// SPDX-License-Identifier: GPL-3.0-or-later

/* The names of events, and lists of CPUs. The expected numbers are those of linux/perf_event.h. */

#include "perf/cpus.h"
#include "perf/events/event.h"

static void
test_names_and_periods (void)
{
  static const struct
  {
    const char *text;
    uint32_t type;
    uint64_t config;
    uint64_t period;
  } cases[] = {
    { "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0 },
    { "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0 },
    { "cpu-clock:250000", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 250000 },
    { "page-faults:1", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1 },
    { "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 0 },
    { "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0 },
    { "faults:7", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 7 },
    { "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 0 },
    { "L1-dcache-loads", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D, 0 },
    { "LLC-load-misses:1000", PERF_TYPE_HW_CACHE,
      PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 |
          PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
      1000 },
    { "node-prefetches", PERF_TYPE_HW_CACHE,
      PERF_COUNT_HW_CACHE_NODE | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8, 0 },
    { "dTLB-store-misses", PERF_TYPE_HW_CACHE,
      PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8 |
          PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
      0 },
    { "instructions:18446744073709551615", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
      UINT64_MAX },
  };
  Privilege *privilege = sysprof_privilege_new ();

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      PerfEvent event;
      g_autoptr (GError) error = NULL;

      g_assert_true (sysprof_perf_event_parse (&event, cases[i].text, privilege, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (event.type, ==, cases[i].type);
      g_assert_cmpuint (event.config, ==, cases[i].config);
      g_assert_cmpuint (event.period, ==, cases[i].period);
    }
  sysprof_privilege_unref (privilege);
}

static void
test_refuses_with_a_reason (void)
{
  static const char *const broken[] = {
    "",
    "x",
    "cycles:",
    "cycles:0",
    "cycles:-1",
    ":5",
    "cycles:99999999999999999999",
    "a:b:c:d",
    "../../x:id",
    "sched:../sched_switch",
    "sched:",
    ":sched_switch",
    "sched:nothing_like_it",
  };
  Privilege *privilege = sysprof_privilege_new ();

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      PerfEvent event;
      g_autoptr (GError) error = NULL;

      g_assert_false (sysprof_perf_event_parse (&event, broken[i], privilege, &error));
      g_assert_nonnull (error);
      g_assert_nonnull (strstr (error->message, "Cannot"));
    }
  sysprof_privilege_unref (privilege);
}

/* Everybody may open the software's, for himself; a name that there is not is said with what there is. */
static void
test_says_what_there_is (void)
{
  Privilege *privilege = sysprof_privilege_new ();
  g_autoptr (GError) error = NULL;
  PerfEvent event;

  g_assert_false (sysprof_perf_event_parse (&event, "no-such-event", privilege, &error));
  g_assert_nonnull (strstr (error->message, "no-such-event"));
  g_assert_nonnull (strstr (error->message, "This machine has "));
  sysprof_privilege_unref (privilege);
}

static void
test_what_a_sample_weighs (void)
{
  const PerfEvent clock = { .is_clock = true };
  const PerfEvent slow_clock = { .is_clock = true, .period = 7 };
  const PerfEvent counter = { .period = 9 };
  const PerfEvent by_frequency = { 0 };

  g_assert_cmpuint (sysprof_perf_event_get_period (&clock, 4000), ==, 250000);
  g_assert_cmpuint (sysprof_perf_event_get_period (&slow_clock, 4000), ==, 7);
  g_assert_cmpuint (sysprof_perf_event_get_period (&counter, 4000), ==, 9);
  g_assert_cmpuint (sysprof_perf_event_get_period (&by_frequency, 4000), ==, 0);
}

static void
test_lists_of_cpus (void)
{
  static const struct
  {
    const char *list;
    int expected[8];
    guint n;
  } cases[] = {
    { "0\n", { 0 }, 1 },
    { "0-3\n", { 0, 1, 2, 3 }, 4 },
    { "0,2-3,7\n", { 0, 2, 3, 7 }, 4 },
    { "", { 0 }, 0 },
    { "5-4", { 0 }, 0 },
    { "1,,2", { 1 }, 1 },
    { "1-999999999", { 0 }, 0 },
    { "1,99999999999999999999999", { 1 }, 1 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GArray) cpus = sysprof_cpus_parse (cases[i].list);

      g_assert_cmpmem (cpus->data, cpus->len * sizeof (int), cases[i].expected,
                       cases[i].n * sizeof (int));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/perf/event/names-and-periods", test_names_and_periods);
  g_test_add_func ("/perf/event/refuses-with-a-reason", test_refuses_with_a_reason);
  g_test_add_func ("/perf/event/says-what-there-is", test_says_what_there_is);
  g_test_add_func ("/perf/event/what-a-sample-weighs", test_what_a_sample_weighs);
  g_test_add_func ("/perf/event/lists-of-cpus", test_lists_of_cpus);
  return g_test_run ();
}
