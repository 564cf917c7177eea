// SPDX-License-Identifier: GPL-3.0-or-later

/* Suggestions for misspelled words. */

#include "util/closest.h"

#include <glib.h>
#include <string.h>

static const char *
closest_of (const char *wanted, const char *const *words)
{
  Closest closest = sysprof_closest_to (wanted);

  for (; *words; words++)
    sysprof_closest_offer (&closest, *words, strlen (*words), *words);
  return closest.best;
}

static void
test_finds_what_was_meant (void)
{
  static const char *const words[] = { "tree", "threads", "functions", "flame", "files", NULL };

  g_assert_cmpstr (closest_of ("tere", words), ==, "tree");          /* swapped */
  g_assert_cmpstr (closest_of ("function", words), ==, "functions"); /* left out */
  g_assert_cmpstr (closest_of ("flames", words), ==, "flame");       /* added */
  g_assert_cmpstr (closest_of ("THREADZ", words), ==, "threads");    /* changed */
}

static void
test_the_nearest_wins (void)
{
  static const char *const words[] = { "heavy_walk", "heavy_worm", "heavy_work", NULL };

  g_assert_cmpstr (closest_of ("heavy_wirk", words), ==, "heavy_work");
}

static void
test_offers_nothing_far_away (void)
{
  static const char *const words[] = { "tree", "", "x", NULL };
  g_autofree char *longest = g_strnfill (100000, 't');
  const char *const long_words[] = { longest, NULL };

  g_assert_null (closest_of ("summary", words));
  g_assert_null (closest_of ("", words));
  g_assert_null (closest_of ("y", words));
  g_assert_null (closest_of (longest, long_words));
  g_assert_null (closest_of ("ttt", long_words));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/util/closest/finds-what-was-meant", test_finds_what_was_meant);
  g_test_add_func ("/util/closest/the-nearest-wins", test_the_nearest_wins);
  g_test_add_func ("/util/closest/offers-nothing-far-away", test_offers_nothing_far_away);
  return g_test_run ();
}
