// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares results of the index with a search through all texts. */

#include "../data/fixed-seed.h"
#include "analyze/search/text-index.h"

#include <string.h>

/* --- reference: texts as characters; bytes that are not UTF-8 are characters of their own
 * --- */

#define BROKEN   0x200000u /* + byte */
#define NO_FIELD 0x210000u

/* *(full)* */
static GArray *
to_characters (const char *text)
{
  GArray *characters = g_array_new (false, false, sizeof (gunichar));

  while (*text != '\0')
    {
      gunichar c = g_utf8_get_char_validated (text, -1);

      if (c >= 0x110000)
        c = BROKEN + (uint8_t) *text++;
      else
        text = g_utf8_next_char (text);
      g_array_append_val (characters, c);
    }
  return characters;
}

static gunichar
at (const GArray *text, guint i)
{
  return g_array_index (text, gunichar, i);
}

static gunichar
small (gunichar c)
{
  return c < ' ' ? ' ' : c < 0x110000 ? g_unichar_tolower (c) : c;
}

static bool
is_letter (gunichar c)
{
  return c < 0x80 ? g_ascii_isalnum ((char) c) : c != NO_FIELD;
}

static bool
is_capital (gunichar c)
{
  return c < 0x110000 && g_unichar_tolower (c) != c;
}

static bool
is_small (gunichar c)
{
  return c < 0x110000 && !is_capital (c) && g_unichar_islower (c);
}

static bool
word_begins (const GArray *text, guint i)
{
  gunichar c = at (text, i), before = i > 0 ? at (text, i - 1) : ' ';
  gunichar behind = i + 1 < text->len ? at (text, i + 1) : ' ';

  if (!is_letter (c))
    return false;
  return !is_letter (before) ||
         (is_capital (c) &&
          (is_small (before) || (is_capital (before) && behind < 0x80 && is_small (behind))));
}

static bool
stands_at (const GArray *text, guint i, const GArray *term)
{
  for (guint j = 0; j < term->len; j++)
    if (i + j >= text->len || at (text, i + j) == NO_FIELD ||
        small (at (text, i + j)) != small (at (term, j)))
      return false;
  return true;
}

/* The fields one behind the other. *(full)* */
static GArray *
read_text (const TextFields *fields)
{
  GArray *text = to_characters (fields->field[0]);

  for (uint32_t i = 1; i < TEXT_MOST_FIELDS && fields->field[i] != NULL; i++)
    {
      g_autoptr (GArray) more = to_characters (fields->field[i]);
      const gunichar end = NO_FIELD;

      g_array_append_val (text, end);
      g_array_append_vals (text, more->data, more->len);
    }
  return text;
}

typedef struct
{
  GArray *whole;
  GPtrArray *terms; /* of GArray */
} SlowQuery;

static void
slow_query_init (SlowQuery *self, const char *query)
{
  g_autofree char *plain = g_strdup (query);
  g_auto (GStrv) words = NULL;

  for (char *c = plain; *c != '\0'; c++)
    if ((*c & 0x80) == 0 && *c < ' ')
      *c = ' ';
  g_strstrip (plain);
  self->whole = to_characters (plain);
  self->terms = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  words = g_strsplit (plain, " ", -1);
  for (char **word = words; *word != NULL; word++)
    if (**word != '\0')
      g_ptr_array_add (self->terms, to_characters (*word));
}

static void
slow_query_clear (SlowQuery *self)
{
  g_array_unref (self->whole);
  g_ptr_array_unref (self->terms);
}

static bool
is_whole (const GArray *text, const GArray *whole)
{
  return stands_at (text, 0, whole) &&
         (text->len == whole->len || at (text, whole->len) == NO_FIELD);
}

static TextFit
fit_of (const GArray *text, const SlowQuery *query)
{
  bool begins = false, all_words = true;

  if (query->terms->len == 0)
    return TEXT_DOES_NOT_FIT;
  for (guint n = 0; n < query->terms->len; n++)
    {
      const GArray *term = query->terms->pdata[n];
      bool is_word = false;
      unsigned n_places = 0;

      for (guint i = 0; i < text->len; i++)
        if (stands_at (text, i, term))
          {
            /* The beginning of the text counts as the beginning of a word. */
            is_word |= n_places++ < 64 && (i == 0 || word_begins (text, i));
            begins |= n == 0 && i == 0;
          }
      if (n_places == 0)
        return TEXT_DOES_NOT_FIT;
      all_words &= is_word;
    }
  if (is_whole (text, query->whole))
    return TEXT_IS_QUERY;
  return begins ? TEXT_BEGINS : all_words ? TEXT_BEGINS_WORDS : TEXT_CONTAINS;
}

/* --- comparing --- */

typedef struct
{
  TextFields *fields; /* [n] */
  GArray **texts;     /* [n] the same */
  uint32_t n;
  TextIndex *index;
} Texts;

static void
assert_same (const Texts *texts, const char *terms, uint32_t limit)
{
  g_autoptr (TextQuery) query = sysprof_text_query_new (terms);
  uint32_t n_matches, n_seen = 0;
  g_autofree TextMatch *matches =
      sysprof_text_index_find (texts->index, query, limit, &n_matches, NULL);
  g_autofree TextFit *fits = g_new (TextFit, texts->n);
  SlowQuery slow;

  slow_query_init (&slow, terms);
  for (uint32_t i = 0; i < texts->n; i++)
    {
      fits[i] = fit_of (texts->texts[i], &slow);
      if (sysprof_text_query_fit (query, &texts->fields[i]) != fits[i])
        g_error ("'%s' in '%s': %u, not %u", terms, texts->fields[i].field[0],
                 sysprof_text_query_fit (query, &texts->fields[i]), fits[i]);
    }
  slow_query_clear (&slow);
  for (unsigned fit = 0; fit < N_TEXT_FITS; fit++)
    for (uint32_t i = 0; i < texts->n && n_seen < limit; i++)
      if (fits[i] == fit)
        {
          g_assert_cmpuint (n_seen, <, n_matches);
          g_assert_cmpuint (matches[n_seen].text, ==, i);
          g_assert_cmpuint (matches[n_seen].fit, ==, fit);
          n_seen++;
        }
  g_assert_cmpuint (n_matches, ==, n_seen);
}

static const char *const parts[] = {
  "g_", "object",   "Object", "_new", "render", "::",   "Frame",    "blink", "(int)", "main",
  "x",  "_",        " ",      "HTML", "Text",   "<",    "malloc",   ".so",   "é",     "É",
  "Ж",  "ж",        "\xff",   "\xc3", "\t",     "\xe2", "K",        "k",     "İ",     "{",
  "中", "\xe4\xb8", "a",      "aa",   "aaa",    "$",    "std::map",
};

static char *
make_text (GRand *random, int most_parts)
{
  GString *text = g_string_new (NULL);
  const int n = g_rand_int_range (random, 0, most_parts);

  for (int i = 0; i < n; i++)
    g_string_append (text, parts[g_rand_int_range (random, 0, G_N_ELEMENTS (parts))]);
  if (g_rand_int_range (random, 0, 4) == 0)
    g_string_append_printf (text, "%d", g_rand_int_range (random, 0, 50));
  return g_string_free (text, false);
}

/* Some bytes of a text, or of two of them with a blank between. *(full)* */
static char *
make_query (GRand *random, const TextFields *texts, uint32_t n)
{
  GString *query = g_string_new (NULL);
  const int n_terms = g_rand_int_range (random, 0, 4);
  const TextFields *text = &texts[g_rand_int_range (random, 0, (int) n)];

  for (int i = 0; i < n_terms; i++)
    {
      const char *field = text->field[g_rand_int_range (random, 0, 2)];
      const size_t size = strlen (field);
      const size_t begin = size > 0 ? (size_t) g_rand_int_range (random, 0, (int) size) : 0;

      g_string_append_len (
          query, field + begin,
          (gssize) strnlen (field + begin, (size_t) g_rand_int_range (random, 0, 9)));
      g_string_append_c (query, ' ');
      if (g_rand_int_range (random, 0, 3) == 0)
        text = &texts[g_rand_int_range (random, 0, (int) n)];
    }
  return g_string_free (query, false);
}

static void
test_random (void)
{
  enum
  {
    N = 3000,
    N_QUERIES = 150,
  };
  g_autoptr (GRand) random = g_rand_new_with_seed ((guint32) g_test_rand_int ());
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (g_free);
  Texts texts = { g_new0 (TextFields, N), g_new (GArray *, N), N, NULL };
  static const char *const queries[] = {
    "",     " ",       "  \t ", "o", "O",   "_new",        "NEW obj", "obj obj",  "::", "_ _",
    "x x",  "frame b", "(int)", "4", "é",   "É Ж",         "html",    "text",     "k",  "a",
    "aaaa", "aaaaaaa", "{",     "$", "{ $", "  object  f", "none",    "std::map", "i̇",
  };

  for (unsigned i = 0; i < N; i++)
    {
      for (unsigned field = 0; field < 2 + i % 2; field++)
        {
          char *text = make_text (random, field > 0 ? 3 : i % 100 == 0 ? 200 : 7);

          g_ptr_array_add (kept, text);
          texts.fields[i].field[field] = text;
        }
      texts.texts[i] = read_text (&texts.fields[i]);
    }
  texts.index = sysprof_text_index_new (texts.fields, N, NULL);

  for (size_t i = 0; i < G_N_ELEMENTS (queries); i++)
    {
      assert_same (&texts, queries[i], UINT32_MAX);
      assert_same (&texts, queries[i], 5);
    }
  for (unsigned i = 0; i < N_QUERIES; i++)
    {
      g_autofree char *query = make_query (random, texts.fields, N);

      /* Parts of a character are found, too, but not the slow way. */
      if (g_utf8_validate (query, -1, NULL))
        assert_same (&texts, query, i % 2 == 0 ? UINT32_MAX : 1);
    }

  sysprof_text_index_free (texts.index);
  for (unsigned i = 0; i < N; i++)
    g_array_unref (texts.texts[i]);
  g_free (texts.texts);
  g_free (texts.fields);
}

static uint32_t
count (const TextIndex *index, const char *terms)
{
  g_autoptr (TextQuery) query = sysprof_text_query_new (terms);
  uint32_t n;

  g_free (sysprof_text_index_find (index, query, UINT32_MAX, &n, NULL));
  return n;
}

static void
test_strange_texts (void)
{
  g_autofree char *large = g_strnfill (100000, 'y');
  g_autofree char *half = g_strnfill (50000, 'Y');
  g_autofree char *query = g_strnfill (99999, 'Y');
  g_autofree char *longer = g_strnfill (100001, 'y');
  g_autofree char *both = g_strconcat (half, " x", NULL);
  g_autofree char *many = g_strnfill (100000, ' ');
  const TextFields texts[] = {
    { { "" } },
    { { "\xff\xfe broken \xc3" } },
    { { "Ärger in KÖLN" } },
    { { large } },
    { { "x", large } },
    { { "tab\there" } },
    { { "ẞ\xe2\x82" } },
    { { NULL } },
  };
  g_autoptr (TextIndex) index = sysprof_text_index_new (texts, G_N_ELEMENTS (texts), NULL);

  g_assert_cmpuint (count (index, "ärger köln"), ==, 1);
  g_assert_cmpuint (count (index, "\xff"), ==, 1);
  g_assert_cmpuint (count (index, "BROKEN"), ==, 1);
  g_assert_cmpuint (count (index, "\xc3"), ==, 3); /* in letters, too */
  g_assert_cmpuint (count (index, large), ==, 2);
  g_assert_cmpuint (count (index, query), ==, 2);
  g_assert_cmpuint (count (index, longer), ==, 0);
  g_assert_cmpuint (count (index, both), ==, 1);
  g_assert_cmpuint (count (index, "tab here"), ==, 1);
  /* More terms than anybody types, all of them there; and none. */
  for (size_t i = 0; i < 100000; i += 2)
    many[i] = 'y';
  g_assert_cmpuint (count (index, many), ==, 2);
  many[99998] = 'q';
  g_assert_cmpuint (count (index, many), ==, 0);
}

static void
test_none_and_cancelled (void)
{
  g_autoptr (TextIndex) index = sysprof_text_index_new (NULL, 0, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const TextFields text = { { "name" } };

  g_assert_cmpuint (count (index, "x"), ==, 0);
  g_cancellable_cancel (cancellable);
  g_assert_null (sysprof_text_index_new (&text, 1, cancellable));
}

/* All exact ones, then all that begin so, …; within a fit in the given order, which is that of weight. */
static void
test_ranks (void)
{
  const TextFields texts[] = {
    { { "domain", "libc" } },       { { "xmain", "main" } },      { { "getMain", "libc" } },
    { { "main_loop", "libglib" } }, { { "Main", "libfoo" } },     { { "g_main", "libglib" } },
    { { "main", "prog" } },         { { "HTMLMain", "libfoo" } }, { { "mainly" } },
  };
  static const uint32_t expected[] = { 4, 6, 3, 8, 1, 2, 5, 7, 0 };
  g_autoptr (TextIndex) index = sysprof_text_index_new (texts, G_N_ELEMENTS (texts), NULL);
  g_autoptr (TextQuery) query = sysprof_text_query_new (" main ");
  uint32_t n;
  g_autofree TextMatch *matches = sysprof_text_index_find (index, query, 100, &n, NULL);

  g_assert_cmpuint (n, ==, G_N_ELEMENTS (expected));
  for (uint32_t i = 0; i < n; i++)
    g_assert_cmpuint (matches[i].text, ==, expected[i]);
}

int
main (int argc, char *argv[])
{
  test_init_with_fixed_seed (&argc, &argv);
  g_test_add_func ("/text-index/ranks", test_ranks);
  g_test_add_func ("/text-index/random", test_random);
  g_test_add_func ("/text-index/strange-texts", test_strange_texts);
  g_test_add_func ("/text-index/none-and-cancelled", test_none_and_cancelled);
  return g_test_run ();
}
