// SPDX-License-Identifier: GPL-3.0-or-later

/* A message has four parts: what failed, on what, why, and what to do. */

#include "util/util.h"

#include <errno.h>
#include <string.h>

static void
test_four_parts (void)
{
  g_autoptr (GError) error = NULL;

  errno = ENOSPC;
  sysprof_set_error_errno (&error, "Cannot write to '%s'", "x");
  g_assert_cmpstr (g_quark_to_string (SYSPROF_ERROR), ==, "sysprof-error-quark");
  g_assert_error (error, SYSPROF_ERROR, SYSPROF_ERROR_NO_SPACE);
  g_assert_cmpstr (
      error->message, ==,
      "Cannot write to 'x': No space left on device. Free some space, or choose another disk.");
  g_assert_cmpint (errno, ==, ENOSPC);
}

/* Whatever the reason, there is a whole sentence. */
static void
test_advice_is_a_sentence (void)
{
  for (int number = 1; number < 200; number++)
    {
      const char *advice = sysprof_advice_on_errno (number);

      g_assert_true (g_ascii_isupper (*advice) || *advice == '\'');
      g_assert_true (g_str_has_suffix (advice, "."));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/util/errors/four-parts", test_four_parts);
  g_test_add_func ("/util/errors/advice-is-a-sentence", test_advice_is_a_sentence);
  return g_test_run ();
}
