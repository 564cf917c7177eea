// SPDX-License-Identifier: GPL-3.0-or-later

/* Searching names while somebody types.
 *
 *   search-names NAMES ROUNDS QUERY…
 *
 * NAMES is a file with one name a line. Prints how many names there are, the milliseconds that making the index took in
 * each round, and the bytes of names and index; then for each round and beginning of each query: the query, how many
 * names fit, the milliseconds to the first and to the first 100 of them by the index, and to look at every name with
 * strcasestr(). */

#include "analyze/search/text-index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 100 /* names on a screen */

static double
elapsed_msec (gint64 since)
{
  return (double) (g_get_monotonic_time () - since) / 1000;
}

static double
look_at_all (const TextFields *names, uint32_t n, const char *terms, uint32_t *n_found)
{
  g_auto (GStrv) words = g_strsplit (terms, " ", -1);
  gint64 begin = g_get_monotonic_time ();

  *n_found = 0;
  for (uint32_t i = 0; i < n; i++)
    {
      char **word = words;

      while (*word != NULL && strcasestr (names[i].field[0], *word) != NULL)
        word++;
      *n_found += *word == NULL;
    }
  return elapsed_msec (begin);
}

static double
ask (const TextIndex *index, const char *terms, uint32_t limit, uint32_t *n)
{
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (TextQuery) query = sysprof_text_query_new (terms);

  g_free (sysprof_text_index_find (index, query, limit, n, NULL));
  return elapsed_msec (begin);
}

static void
type (const TextIndex *index, const TextFields *names, uint32_t n, const char *typed)
{
  for (size_t size = 1; size <= strlen (typed); size++)
    {
      g_autofree char *terms = g_strndup (typed, size);
      uint32_t n_found, n_seen;
      double first, page, all;

      if (terms[size - 1] == ' ')
        continue;
      (void) ask (index, terms, UINT32_MAX, &n_found);
      first = ask (index, terms, 1, &(uint32_t){ 0 });
      page = ask (index, terms, PAGE, &(uint32_t){ 0 });
      all = look_at_all (names, n, terms, &n_seen);
      if (n_found != n_seen)
        g_error ("'%s': the two do not agree", terms);
      printf ("%s\t%u\t%.4f\t%.4f\t%.4f\n", terms, n_found, first, page, all);
    }
}

int
main (int argc, char *argv[])
{
  g_autofree char *text = NULL;
  gsize size;
  g_autoptr (GError) error = NULL;
  g_autofree TextFields *names = NULL;
  g_autoptr (TextIndex) index = NULL;
  uint32_t n = 0;

  if (argc < 4 || atoi (argv[2]) <= 0)
    {
      fprintf (stderr, "usage: %s NAMES ROUNDS QUERY...\n", argv[0]);
      return 2;
    }
  if (!g_file_get_contents (argv[1], &text, &size, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }

  for (gsize i = 0; i < size; i++)
    n += text[i] == '\n';
  names = g_new0 (TextFields, MAX (n, 1));
  n = 0;
  for (char *at = text, *end; (end = strchr (at, '\n')) != NULL; at = end + 1)
    {
      *end = '\0';
      names[n++].field[0] = at;
    }

  printf ("%u", n);
  for (int round = 0; round < atoi (argv[2]); round++)
    {
      gint64 begin = g_get_monotonic_time ();

      g_clear_pointer (&index, sysprof_text_index_free);
      index = sysprof_text_index_new (names, n, NULL);
      printf ("\t%.3f", elapsed_msec (begin));
    }
  printf ("\n%zu\t%zu\n", size, sysprof_text_index_size (index));
  for (int round = 0; round < atoi (argv[2]); round++)
    for (int i = 3; i < argc; i++)
      type (index, names, n, argv[i]);
  return 0;
}
