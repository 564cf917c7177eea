// SPDX-License-Identifier: GPL-3.0-or-later

/* Reading and parsing counters allocates no memory: counts calls of malloc() and its like while
 * counters of this machine are read. A new device or cgroup needs memory for its series.
 * Therefore the reading with the fewest allocations counts. */

#include "tests/record/counters/counter-bench.h"

#include <glib/gstdio.h>
#include <limits.h>

#if defined __has_feature
#  if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#    define HAS_OTHER_MALLOC
#  endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __GLIBC__
#  define HAS_OTHER_MALLOC
#endif

#define N_READINGS 20

extern const SampledCounters sysprof_battery_charge_counters;
extern const SampledCounters sysprof_cpu_frequency_counters;
extern const SampledCounters sysprof_cpu_usage_counters;
extern const SampledCounters sysprof_disk_usage_counters;
extern const SampledCounters sysprof_energy_usage_counters;
extern const SampledCounters sysprof_memory_event_counters;
extern const SampledCounters sysprof_memory_usage_counters;
extern const SampledCounters sysprof_network_usage_counters;
extern const SampledCounters sysprof_own_usage_counters;
extern const SampledCounters sysprof_pressure_counters;
extern const SampledCounters sysprof_pressure_group_counters;
extern const SampledCounters sysprof_temperature_counters;

static unsigned n_allocations;

#ifndef HAS_OTHER_MALLOC
void *__libc_malloc (size_t size);
void *__libc_calloc (size_t n, size_t size);
void *__libc_realloc (void *old, size_t size);

/* The C library's, counted. Those have the attributes; these are seen by this program's libraries alone. */
__attribute__ ((visibility ("default"))) void *
malloc (size_t size)
{
  n_allocations++;
  return __libc_malloc (size);
}

__attribute__ ((visibility ("default"))) void *
calloc (size_t n, size_t size)
{
  n_allocations++;
  return __libc_calloc (n, size);
}

__attribute__ ((visibility ("default"))) void *
realloc (void *old, size_t size)
{
  n_allocations++;
  return __libc_realloc (old, size);
}
#endif

static unsigned
count_least (CounterBench *bench)
{
  unsigned least = UINT_MAX;

  for (unsigned i = 0; i < N_READINGS; i++)
    {
      unsigned before = n_allocations;

      bench_read (bench, 1 + i);
      least = MIN (least, n_allocations - before);
    }
  return least;
}

static void
test_none (void)
{
  static const SampledCounters *const all[] = {
    &sysprof_battery_charge_counters, &sysprof_cpu_usage_counters,
    &sysprof_cpu_frequency_counters,  &sysprof_disk_usage_counters,
    &sysprof_energy_usage_counters,   &sysprof_memory_event_counters,
    &sysprof_memory_usage_counters,   &sysprof_network_usage_counters,
    &sysprof_own_usage_counters,      &sysprof_pressure_counters,
    &sysprof_pressure_group_counters, &sysprof_temperature_counters,
  };
  unsigned before = n_allocations, n_read = 0;

  g_free (g_malloc (1));
  if (n_allocations == before)
    {
      g_test_skip ("this program's memory comes from a sanitizer or another C library");
      return;
    }

  for (size_t i = 0; i < G_N_ELEMENTS (all); i++)
    {
      CounterBench bench = { 0 };
      g_autoptr (GError) error = NULL;

      bench_init (&bench);
      bench.machine = sysprof_privilege_new_below ("");
      bench.sampler = sysprof_counter_sampler_open (all[i], bench.machine, &error);
      if (bench.sampler != NULL)
        {
          g_test_message ("%s", all[i]->title);
          g_assert_cmpuint (count_least (&bench), ==, 0);
          n_read++;
          bench_clear (&bench);
        }
      else /* this machine has none */
        {
          g_assert_true (g_rmdir (bench.dir) == 0);
          sysprof_privilege_unref (bench.machine);
          sysprof_capture_writer_unref (bench.writer);
          g_free (bench.dir);
          g_free (bench.root);
        }
    }
  g_assert_cmpuint (n_read, >=, 4); /* CPU, memory, disk, network */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/counter-allocations/none", test_none);
  return g_test_run ();
}
