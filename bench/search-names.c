// SPDX-License-Identifier: GPL-3.0-or-later

/* Searching a million names while somebody types.
 *
 *   search-names NAMES ROUNDS
 *
 * Prints the milliseconds that making the index took and its bytes; then for each query and round: the query, the
 * milliseconds to the first and to the first 100 names by the index, and to look at every name, case ignored. */

#include "analyze/text-index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const namespaces[] = { "blink", "v8::internal", "std",  "gtk", "g",
                                          "llvm",  "cc",           "wasm", "net", "base" };
static const char *const nouns[] = { "Object",    "frame",  "Buffer",   "tree",
                                     "Node",      "text",   "Layout",   "string",
                                     "Scheduler", "map",    "Renderer", "hash",
                                     "Table",     "Stream", "cache",    "signal" };
static const char *const verbs[] = { "get",    "Set",  "update", "Create", "insert",
                                     "lookup", "Draw", "parse",  "emit",   "run" };

static char *
make_name (GRand *random, unsigned i)
{
  const char *space = namespaces[g_rand_int_range (random, 0, G_N_ELEMENTS (namespaces))];
  const char *noun = nouns[g_rand_int_range (random, 0, G_N_ELEMENTS (nouns))];
  const char *other = nouns[g_rand_int_range (random, 0, G_N_ELEMENTS (nouns))];
  const char *verb = verbs[g_rand_int_range (random, 0, G_N_ELEMENTS (verbs))];

  if (i % 3 == 0)
    return g_strdup_printf ("%s_%s_%s_%x", space, noun, verb, g_rand_int (random));
  return g_strdup_printf ("%s::%s%s::%s%u(%s const&)", space, noun, other, verb, i, other);
}

static double
elapsed_msec (gint64 since)
{
  return (double) (g_get_monotonic_time () - since) / 1000;
}

static double
look_at_all (char **names, uint32_t n, const char *query)
{
  gint64 begin = g_get_monotonic_time ();
  volatile uint32_t found = 0;

  for (uint32_t i = 0; i < n; i++)
    if (strcasestr (names[i], query) != NULL)
      found++;
  return elapsed_msec (begin);
}

static double
ask (const TextIndex *index, const char *query, uint32_t limit)
{
  gint64 begin = g_get_monotonic_time ();
  uint32_t n;

  g_free (sysprof_text_index_find (index, query, limit, &n, NULL));
  return elapsed_msec (begin);
}

int
main (int argc, char *argv[])
{
  static const char *const typed[] = { "layoutcacheinsert", "gtk_hash_lookup_7f", "o", "~",
                                       "qz" };
  const uint32_t n = argc > 1 ? (uint32_t) atoi (argv[1]) : 1000000;
  const int rounds = argc > 2 ? atoi (argv[2]) : 5;
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  char **names = g_new (char *, n);
  g_autoptr (TextIndex) index = NULL;
  gint64 begin;

  for (uint32_t i = 0; i < n; i++)
    names[i] = make_name (random, i);
  begin = g_get_monotonic_time ();
  index = sysprof_text_index_new ((const char *const *) names, n, NULL);
  printf ("index\t%.3f\t%zu\n", elapsed_msec (begin), sysprof_text_index_size (index));

  for (size_t i = 0; i < G_N_ELEMENTS (typed); i++)
    for (size_t size = 1; size <= strlen (typed[i]); size++)
      for (int round = 0; round < rounds; round++)
        {
          g_autofree char *query = g_strndup (typed[i], size);
          const double first = ask (index, query, 1);
          const double screen = ask (index, query, 100);

          printf ("%s\t%.4f\t%.4f\t%.4f\n", query, first, screen,
                  look_at_all (names, n, query));
        }
  return 0;
}
