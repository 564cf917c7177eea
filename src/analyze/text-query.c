// SPDX-License-Identifier: GPL-3.0-or-later

/* Asking an index of names. */

#include "analyze/text-index-parts.h"

#define MOST_TERMS 16

typedef struct
{
  const TextIndex *index;
  char *folded; /* the terms, each with a NUL behind it */
  const char *term[MOST_TERMS];
  size_t size[MOST_TERMS];
  uint32_t n_terms;
  uint32_t longest; /* the term that is looked for first */
  TextFit fit;      /* looked for now */
  GArray *matches;  /* of TextMatch */
  uint32_t limit;
} Question;

typedef struct
{
  uint32_t lists[64];
  uint32_t n;
} Grams;

static void
add_gram (Grams *grams, char a, char b, char c)
{
  if (grams->n < G_N_ELEMENTS (grams->lists))
    grams->lists[grams->n++] =
        hash_gram ((unsigned char) a, (unsigned char) b, (unsigned char) c);
}

/* All that a name has in which the term stands like that. */
static void
add_term (Grams *grams, const char *term, size_t size, TextFit fit, bool is_first)
{
  char at = 0;

  if (size == 1)
    add_gram (grams, term[0], 0, 0);
  else if (size == 2)
    add_gram (grams, term[0], term[1], 0);
  for (size_t i = 0; i + 2 < size; i++)
    add_gram (grams, term[i], term[i + 1], term[i + 2]);

  if (fit == TEXT_IS_QUERY)
    add_gram (grams, size > 1 ? term[size - 2] : AT_BEGIN, term[size - 1], AT_END);
  if (fit <= TEXT_BEGINS && is_first)
    at = AT_BEGIN;
  else if (fit == TEXT_BEGINS_WORDS)
    at = AT_WORD;
  if (at != 0)
    add_gram (grams, at, term[0], size > 1 ? term[1] : 0);
}

static int
compare_lists (const void *left, const void *right, void *data)
{
  const TextIndex *index = data;
  const uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
  const uint32_t n_a = index->list[a + 1] - index->list[a];
  const uint32_t n_b = index->list[b + 1] - index->list[b];

  return n_a < n_b ? -1 : n_a > n_b;
}

/* Whether the list has the block, from `*at` on, which goes along. */
static bool
list_has (const TextIndex *index, uint32_t list, uint32_t *at, uint16_t block)
{
  uint32_t end = index->list[list + 1];
  uint32_t step = 1;

  while (*at + step < end && index->blocks[*at + step] < block)
    {
      *at += step;
      step *= 2;
    }
  end = MIN (end, *at + step + 1);
  while (*at < end && index->blocks[*at] < block)
    {
      uint32_t middle = *at + (end - *at) / 2;

      if (index->blocks[middle] < block)
        *at = middle + 1;
      else
        end = middle;
    }
  return *at < index->list[list + 1] && index->blocks[*at] == block;
}

/* How the term stands in the name at best. */
static TextFit
fit_of_term (const TextIndex *index,
             uint32_t name,
             const char *term,
             size_t size,
             bool *is_found)
{
  const uint64_t begin = index->begin[name];
  const char *text = index->text + begin;
  const char *end = index->text + index->begin[name + 1] - 1;
  const char *at = text;
  TextFit best = TEXT_CONTAINS;

  *is_found = false;
  while ((at = memmem (at, (size_t) (end - at), term, size)) != NULL)
    {
      *is_found = true;
      if (at == text)
        return TEXT_BEGINS;
      if (is_word_at (index, (uint64_t) (at - index->text)))
        best = TEXT_BEGINS_WORDS;
      at++;
    }
  return best;
}

/* TRUE if all terms are in it, in the way that is looked for and in no better one. */
static bool
fits (const Question *question, uint32_t name)
{
  const TextIndex *index = question->index;
  TextFit fit = TEXT_BEGINS;
  bool is_found;

  for (uint32_t i = 0; i < question->n_terms; i++)
    {
      TextFit of_term =
          fit_of_term (index, name, question->term[i], question->size[i], &is_found);

      if (!is_found)
        return false;
      /* A name that begins with the second term begins a word with it. */
      if (i == 0)
        fit = of_term;
      else if (of_term == TEXT_CONTAINS && fit == TEXT_BEGINS_WORDS)
        fit = TEXT_CONTAINS;
    }
  if (fit == TEXT_BEGINS && question->n_terms == 1 &&
      index->begin[name + 1] - index->begin[name] - 1 == question->size[0])
    fit = TEXT_IS_QUERY;
  return fit == question->fit;
}

static uint32_t
name_at (const TextIndex *index, uint64_t at, uint32_t first, uint32_t last)
{
  while (last - first > 1)
    {
      uint32_t middle = first + (last - first) / 2;

      if (index->begin[middle] <= at)
        first = middle;
      else
        last = middle;
    }
  return first;
}

static void
search_block (Question *question, uint16_t block)
{
  const TextIndex *index = question->index;
  const uint32_t first = block * index->per_block;
  const uint32_t last = MIN (first + index->per_block, index->n);
  const char *term = question->term[question->longest];
  const size_t size = question->size[question->longest];
  const char *at = index->text + index->begin[first];
  const char *end = index->text + index->begin[last];

  while (question->matches->len < question->limit &&
         (at = memmem (at, (size_t) (end - at), term, size)) != NULL)
    {
      TextMatch match = { name_at (index, (uint64_t) (at - index->text), first, last),
                          question->fit };

      if (fits (question, match.name))
        g_array_append_val (question->matches, match);
      at = index->text + index->begin[match.name + 1];
    }
}

static void
search_fit (Question *question, GCancellable *cancellable)
{
  const TextIndex *index = question->index;
  Grams grams = { .n = 0 };
  uint32_t at[G_N_ELEMENTS (grams.lists)];

  for (uint32_t i = 0; i < question->n_terms; i++)
    add_term (&grams, question->term[i], question->size[i], question->fit, i == 0);
  g_qsort_with_data (grams.lists, (int) grams.n, sizeof *grams.lists, compare_lists,
                     (void *) index);
  for (uint32_t i = 0; i < grams.n; i++)
    at[i] = index->list[grams.lists[i]];

  for (; at[0] < index->list[grams.lists[0] + 1]; at[0]++)
    {
      const uint16_t block = index->blocks[at[0]];
      uint32_t i = 1;

      while (i < grams.n && list_has (index, grams.lists[i], &at[i], block))
        i++;
      if (i == grams.n)
        search_block (question, block);
      if (question->matches->len >= question->limit || g_cancellable_is_cancelled (cancellable))
        return;
    }
}

static void
take_terms (Question *question, const char *query)
{
  const size_t size = strlen (query);
  char *end;

  question->folded = g_malloc (sysprof_folded_room (size) + 1);
  end = sysprof_fold_text (query, size, question->folded);
  *end = '\0';
  for (char *at = question->folded; at < end && question->n_terms < MOST_TERMS;)
    {
      const size_t length = strcspn (at, " ");
      const uint32_t term = question->n_terms;

      if (length > 0)
        {
          question->term[term] = at;
          question->size[term] = length;
          if (length > question->size[question->longest])
            question->longest = term;
          question->n_terms++;
        }
      at[length] = '\0';
      at += length + 1;
    }
}

TextMatch *
sysprof_text_index_find (const TextIndex *self,
                         const char *query,
                         uint32_t limit,
                         uint32_t *n_matches,
                         GCancellable *cancellable)
{
  Question question = { .index = self,
                        .limit = limit,
                        .matches = g_array_new (false, false, sizeof (TextMatch)) };

  take_terms (&question, query);
  for (unsigned fit = 0; fit < N_TEXT_FITS && question.n_terms > 0; fit++)
    {
      question.fit = (TextFit) fit;
      if (question.matches->len < limit && (fit != TEXT_IS_QUERY || question.n_terms == 1))
        search_fit (&question, cancellable);
    }
  g_free (question.folded);
  *n_matches = question.matches->len;
  return (TextMatch *) (void *) g_array_free (question.matches, false);
}
