// SPDX-License-Identifier: GPL-3.0-or-later

/* Equal strings get the same number. */

#include "util/intern.h"

#include <glib.h>

static void
test_equal_strings_share_an_id (void)
{
  Intern strings;

  sysprof_intern_init (&strings);
  g_assert_cmpuint (sysprof_intern_string (&strings, ""), ==, 0);

  /* Enough to grow every table several times. */
  for (unsigned round = 0; round < 2; round++)
    for (unsigned i = 0; i < 5000; i++)
      {
        g_autofree char *text = g_strdup_printf ("name %u", i);

        g_assert_cmpuint (sysprof_intern_string (&strings, text), ==, i + 1);
      }

  g_assert_cmpuint (strings.n_strings, ==, 5001);
  g_assert_cmpstr (sysprof_intern_get (&strings, 4711), ==, "name 4710");
  g_assert_cmpuint (sysprof_intern_lookup (&strings, "name 4710"), ==, 4711);
  g_assert_cmpuint (sysprof_intern_lookup (&strings, "absent"), ==, 0);
  sysprof_intern_clear (&strings);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/intern/equal-strings-share-an-id", test_equal_strings_share_an_id);
  return g_test_run ();
}
