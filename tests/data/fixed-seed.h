// SPDX-License-Identifier: GPL-3.0-or-later

/* g_test_init() with the same random numbers in each run, so that a failure can be repeated and a run does not depend on chance.
 * SYSPROF_TEST_SEED=random in the environment lets GLib choose another seed each time. GLib prints the seed that was used; the
 * option --seed repeats it. */

#pragma once

#include <glib.h>

static inline void
test_init_with_fixed_seed (int *argc, char ***argv)
{
  /* The form of the option is GLib's. */
  static char seed[] = "--seed=R02S00000000000000000000000000000001";
  static char *arguments[64];
  gboolean is_fixed = g_strcmp0 (g_getenv ("SYSPROF_TEST_SEED"), "random") != 0;

  for (int i = 1; i < *argc; i++)
    is_fixed = is_fixed && !g_str_has_prefix ((*argv)[i], "--seed");
  if (is_fixed && *argc + 2 <= (int) G_N_ELEMENTS (arguments))
    {
      for (int i = 0; i < *argc; i++)
        arguments[i] = (*argv)[i];
      arguments[(*argc)++] = seed;
      *argv = arguments;
    }
  g_test_init (argc, argv, NULL);
}
