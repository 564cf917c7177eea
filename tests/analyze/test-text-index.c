// SPDX-License-Identifier: GPL-3.0-or-later

/* What the index finds, against looking at every name. */

#include "analyze/text-index.h"

#include <string.h>

/* --- the slow and obvious way; for ASCII --- */

static bool
word_begins (const char *name, const char *at)
{
  if (at == name)
    return true;
  if (g_ascii_isupper (*at) && g_ascii_islower (at[-1]))
    return true;
  return g_ascii_isalnum (*at) && !g_ascii_isalnum (at[-1]);
}

/* N_TEXT_FITS: not at all. */
static TextFit
fit_of (const char *name, const char *query)
{
  g_autofree char *small = g_ascii_strdown (name, -1);
  g_autofree char *small_query = g_ascii_strdown (query, -1);
  g_auto (GStrv) terms = g_strsplit (small_query, " ", -1);
  bool begins = false, all_words = true;
  unsigned n = 0;

  for (char **term = terms; *term != NULL; term++)
    {
      bool is_word = false;

      if (**term == '\0')
        continue;
      if (strstr (small, *term) == NULL)
        return N_TEXT_FITS;
      for (const char *at = small; (at = strstr (at, *term)) != NULL; at++)
        is_word |= word_begins (name, name + (at - small));
      all_words &= is_word;
      begins |= n++ == 0 && g_str_has_prefix (small, *term);
    }
  if (n == 0)
    return N_TEXT_FITS;
  if (n == 1 && strcmp (small, g_strstrip (small_query)) == 0)
    return TEXT_IS_QUERY;
  return begins ? TEXT_BEGINS : all_words ? TEXT_BEGINS_WORDS : TEXT_CONTAINS;
}

static void
assert_same (const TextIndex *index,
             const char *const *names,
             uint32_t n,
             const char *query,
             uint32_t limit)
{
  uint32_t n_matches, at = 0;
  g_autofree TextMatch *matches =
      sysprof_text_index_find (index, query, limit, &n_matches, NULL);

  for (unsigned fit = 0; fit < N_TEXT_FITS; fit++)
    for (uint32_t i = 0; i < n && at < limit; i++)
      if (fit_of (names[i], query) == fit)
        {
          g_assert_cmpuint (at, <, n_matches);
          g_assert_cmpstr (names[matches[at].name], ==, names[i]);
          g_assert_cmpuint (matches[at].name, ==, i);
          g_assert_cmpuint (matches[at].fit, ==, fit);
          at++;
        }
  g_assert_cmpuint (n_matches, ==, at);
}

static char *
make_name (GRand *random)
{
  static const char *const parts[] = { "g_",    "object",   "Object", "_new",   "render", "::",
                                       "Frame", "blink",    "(int)",  "main",   "x",      "_",
                                       " ",     "std::map", "<",      "malloc", ".so",    "é" };
  GString *name = g_string_new (NULL);
  int n = g_rand_int_range (random, 0, 6);

  for (int i = 0; i < n; i++)
    g_string_append (name, parts[g_rand_int_range (random, 0, G_N_ELEMENTS (parts) - 1)]);
  if (g_rand_boolean (random))
    g_string_append_printf (name, "%d", g_rand_int_range (random, 0, 50));
  return g_string_free (name, false);
}

static void
test_random (void)
{
  enum
  {
    N = 3000
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (TextIndex) index = NULL;
  static const char *const queries[] = {
    "",         " ",       "o",     "O",        "new",         "NEW obj",
    "obj obj",  "::",      "_ _",   "main",     "x x",         "nt",
    "mainmain", "frame b", "(int)", "4",        "  object  f", "nothing there",
    "<",        "1",       "_",     "std::map",
  };

  for (unsigned i = 0; i < N; i++)
    g_ptr_array_add (names, make_name (random));
  index = sysprof_text_index_new ((const char *const *) names->pdata, N, NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (queries); i++)
    {
      assert_same (index, (const char *const *) names->pdata, N, queries[i], UINT32_MAX);
      assert_same (index, (const char *const *) names->pdata, N, queries[i], 5);
    }
  for (unsigned i = 0; i < 100; i++)
    {
      const char *name = names->pdata[g_rand_int_range (random, 0, N)];
      const size_t size = strlen (name);
      const size_t begin = size > 0 ? (size_t) g_rand_int_range (random, 0, (int) size) : 0;
      g_autofree char *query =
          g_strndup (name + begin, (gsize) g_rand_int_range (random, 0, 9));

      assert_same (index, (const char *const *) names->pdata, N, query, UINT32_MAX);
    }
}

static uint32_t
count (const TextIndex *index, const char *query)
{
  uint32_t n;

  g_free (sysprof_text_index_find (index, query, UINT32_MAX, &n, NULL));
  return n;
}

static void
test_strange_names (void)
{
  g_autofree char *large = g_strnfill (100000, 'y');
  const char *names[] = {
    "", "\xff\xfe broken \xc3", "Ärger in KÖLN", large, "tab\there", "ẞ\xe2\x82"
  };
  g_autoptr (TextIndex) index = sysprof_text_index_new (names, G_N_ELEMENTS (names), NULL);
  g_autofree char *query = g_strnfill (99999, 'Y');

  g_assert_cmpuint (count (index, "ärger köln"), ==, 1);
  g_assert_cmpuint (count (index, "\xff"), ==, 1);
  g_assert_cmpuint (count (index, "BROKEN"), ==, 1);
  g_assert_cmpuint (count (index, "\xc3"), ==, 3); /* in letters, too */
  g_assert_cmpuint (count (index, query), ==, 1);
  g_assert_cmpuint (count (index, "tab here"), ==, 1);
  g_assert_cmpuint (count (index, "a b c d e f g h i j k l m n o p q r s t u v w x y z"), ==,
                    0);
}

static void
test_none_and_cancelled (void)
{
  g_autoptr (TextIndex) index = sysprof_text_index_new (NULL, 0, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const char *name = "name";

  g_assert_cmpuint (count (index, "x"), ==, 0);
  g_cancellable_cancel (cancellable);
  g_assert_null (sysprof_text_index_new (&name, 1, cancellable));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text-index/random", test_random);
  g_test_add_func ("/text-index/strange-names", test_strange_names);
  g_test_add_func ("/text-index/none-and-cancelled", test_none_and_cancelled);
  return g_test_run ();
}
