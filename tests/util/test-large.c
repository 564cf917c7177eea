// SPDX-License-Identifier: GPL-3.0-or-later

/* Arrays that grow keep what they hold, below a huge page, across it and above. */

#include "util/large.h"

static uint32_t *
grow (uint32_t *array, size_t n, size_t new_n)
{
  array = sysprof_growing_renew (array, n, new_n, sizeof *array);
  for (size_t i = 0; i < n; i++)
    g_assert_cmpuint (array[i], ==, i);
  for (size_t i = n; i < new_n; i++)
    array[i] = (uint32_t) i;
  return array;
}

static void
test_growing_arrays_keep_their_items (void)
{
  static const size_t sizes[] = {
    1,
    1000,
    LARGE_PAGE / sizeof (uint32_t) - 1, /* the last that is as any other memory */
    LARGE_PAGE / sizeof (uint32_t),
    LARGE_PAGE / sizeof (uint32_t) * 3 + 1,
    LARGE_PAGE / sizeof (uint32_t) * 8,
  };

  for (size_t last = 0; last < G_N_ELEMENTS (sizes); last++)
    {
      uint32_t *array = NULL;
      size_t n = 0, n_used;

      for (size_t i = 0; i <= last; i++)
        {
          array = grow (array, n, sizes[i]);
          n = sizes[i];
          sysprof_growing_wish (array, n, sizeof *array); /* and it grows all the same */
        }
      sysprof_large_fault_in (array, n * sizeof *array);

      /* Finished memory is freed like any other, whatever its size. */
      n_used = n - n / 3;
      array = sysprof_growing_finish (array, n_used, n, sizeof *array);
      for (size_t i = 0; i < n_used; i++)
        g_assert_cmpuint (array[i], ==, i);
      g_free (array);
    }
}

static void
test_growing_arrays_may_be_given_up (void)
{
  sysprof_growing_free (NULL, 0, sizeof (uint32_t));
  sysprof_growing_free (grow (NULL, 0, 10), 10, sizeof (uint32_t));
  sysprof_growing_free (grow (NULL, 0, LARGE_PAGE), LARGE_PAGE, sizeof (uint32_t));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/util/large/growing-arrays-keep-their-items",
                   test_growing_arrays_keep_their_items);
  g_test_add_func ("/util/large/growing-arrays-may-be-given-up",
                   test_growing_arrays_may_be_given_up);
  return g_test_run ();
}
