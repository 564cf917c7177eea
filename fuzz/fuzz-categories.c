// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the parser of category rules. Each line of the input must become a rule, be
 * ignored, or be reported as an error, and the rules must be usable. */

#include "analyze/analyze.h"
#include "fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static const char *const binaries[] = { "libgtk-4.so.1", "[kernel]", "" };
  static const char *const functions[] = { "gtk_widget_snapshot", "operator new(unsigned long)",
                                           "" };
  g_autoptr (CategoryRules) rules = sysprof_category_rules_new ();
  g_autoptr (GPtrArray) complaints = g_ptr_array_new_with_free_func (g_free);
  Text text = { (const char *) bytes, (const char *) bytes + size };

  sysprof_category_rules_read (rules, text, "rules", complaints);
  for (size_t i = 0; i < G_N_ELEMENTS (binaries); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (functions); j++)
      {
        uint8_t found = sysprof_category_rules_find (rules, binaries[i], functions[j]);

        g_assert_cmpuint (found & ~CATEGORY_IS_INHERITED, <, N_CATEGORIES);
      }
  for (guint i = 0; i < complaints->len; i++)
    g_assert_true (g_utf8_validate (complaints->pdata[i], -1, NULL) &&
                   strchr (complaints->pdata[i], '\n') == NULL);
  return 0;
}
