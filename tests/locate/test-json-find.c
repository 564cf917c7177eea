// SPDX-License-Identifier: GPL-3.0-or-later

/* Lists as the storage of containers has them, and what is none. */

#include "locate/json-find.h"

#include <glib.h>

static const char layers[] =
    "[{\"id\":\"aa\",\"parent\":\"bb\",\"created\":\"2024-01-01T00:00:00Z\",\"diff-size\":-1.5e3},\n"
    " { \"names\" : [ \"x\", {\"id\":\"cc\"}, [] ], \"flags\":{\"layer\":\"no\",\"a\":[1,2]}, \"id\" : \"bb\" },\n"
    " {},{\"id\":\"with \\\"quotes\\\" ] }\",\"layer\":\"dd\"},\n"
    " {\"id\":\"ee\",\"layer\":\"ff\",\"image\":\"gg\",\"parent\":null,\"metadata\":\"{\\\"id\\\":\\\"hh\\\"}\"}]";

static void
assert_text (Text text, const char *expected)
{
  g_assert_true (text.at == NULL ? *expected == '\0' : sysprof_text_equal (text, expected));
}

static void
test_finds_entries (void)
{
  Text json = sysprof_text_from_string (layers);
  StorageEntry entry;

  g_assert_true (sysprof_json_find_entry (json, "aa", &entry));
  assert_text (entry.parent, "bb");
  assert_text (entry.layer, "");
  g_assert_true (sysprof_json_find_entry (json, "bb", &entry));
  assert_text (entry.parent, "");
  assert_text (entry.layer, "");
  g_assert_true (sysprof_json_find_entry (json, "ee", &entry));
  assert_text (entry.layer, "ff");
  assert_text (entry.image, "gg");
  assert_text (entry.parent, "");
}

/* Members of nested values are no entries. */
static void
test_finds_nothing_else (void)
{
  Text json = sysprof_text_from_string (layers);
  StorageEntry entry;

  g_assert_false (sysprof_json_find_entry (json, "cc", &entry));
  g_assert_false (sysprof_json_find_entry (json, "hh", &entry));
  g_assert_false (sysprof_json_find_entry (json, "", &entry));
}

/* Every beginning of a list, too. */
static void
test_ends_where_it_is_broken (void)
{
  static const char *const broken[] = {
    "",
    "null",
    "{\"id\":\"aa\"}",
    "[[{\"id\":\"aa\"}]]",
    "[{\"id\" \"aa\"}]",
    "[{id:1}",
    "[{\"id\":\"",
    "[{\"id\":\"aa\\",
    "[{\"x\":[[[[[[{{{{\"id\":",
    "[{\"x\":}}}]]],",
  };
  StorageEntry entry;

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    g_assert_false (
        sysprof_json_find_entry (sysprof_text_from_string (broken[i]), "aa", &entry));
  for (size_t size = 0; size < sizeof layers - 1; size++)
    g_assert_false (sysprof_json_find_entry ((Text){ layers, layers + size }, "ee", &entry) &&
                    size + 1 < sizeof layers - 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/locate/json-find/finds-entries", test_finds_entries);
  g_test_add_func ("/locate/json-find/finds-nothing-else", test_finds_nothing_else);
  g_test_add_func ("/locate/json-find/ends-where-it-is-broken", test_ends_where_it_is_broken);
  return g_test_run ();
}
