// SPDX-License-Identifier: GPL-3.0-or-later

/* Texts of sizes in bytes. */

#include "util/size.h"

#include <glib.h>

static void
test_plain_blank (void)
{
  static const struct
  {
    uint64_t size;
    const char *text;
  } cases[] = { { 0, "0 bytes" }, { 1300, "1.3 kB" }, { 2500000, "2.5 MB" } };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = sysprof_text_of_size (cases[i].size);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/size/plain-blank", test_plain_blank);
  return g_test_run ();
}
