// SPDX-License-Identifier: GPL-3.0-or-later

/* Work on all CPUs: each item once, one worker per CPU. */

#include "util/parallel.h"

#include <glib.h>

static void
count_items (size_t begin, size_t end, unsigned worker, void *data)
{
  unsigned char *seen = data;

  for (size_t i = begin; i < end; i++)
    seen[i]++;
}

static void
test_every_item_once (void)
{
  static const size_t sizes[] = { 0, 1, 7, 1000, 1001 };
  unsigned char seen[1001];

  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      memset (seen, 0, sizeof seen);
      sysprof_parallel_ranges (sizes[i], 3, count_items, seen);
      for (size_t item = 0; item < sizeof seen; item++)
        g_assert_cmpuint (seen[item], ==, item < sizes[i]);
    }
}

/* As many as GLib counts, which asks with a set of any size. */
static void
test_one_worker_per_cpu (void)
{
  g_assert_cmpuint (sysprof_parallel_workers (), ==, MIN (g_get_num_processors (), 64));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/parallel/every-item-once", test_every_item_once);
  g_test_add_func ("/parallel/workers", test_one_worker_per_cpu);
  return g_test_run ();
}
