// SPDX-License-Identifier: GPL-3.0-or-later

/* What is sought, and how well a text fits. */

#include "analyze/search/text-index-parts.h"

/* Limits comparisons of a term that occurs very often in a long text. */
#define MOST_PLACES 64

#define SHORT_TEXT 256 /* bytes */

TextQuery *
sysprof_text_query_new (const char *query)
{
  TextQuery *self = g_new0 (TextQuery, 1);
  const TextFields text = { { query } };
  const size_t room = sysprof_folded_size (&text) + 1;
  g_autofree char *folded = g_malloc (room);
  const char *at;

  *sysprof_fold_text (&text, folded, NULL, 0) = '\0';
  self->whole = g_strdup (g_strstrip (folded));
  self->whole_size = strlen (self->whole);
  self->terms = g_new (Term, self->whole_size / 2 + 1);
  for (at = self->whole; *at != '\0'; at += strspn (at, " "))
    {
      const Term term = { at, strcspn (at, " ") };

      self->terms[self->n_terms++] = term;
      at += term.size;
    }
  return self;
}

void
sysprof_text_query_free (TextQuery *self)
{
  if (self == NULL)
    return;
  g_free (self->whole);
  g_free (self->terms);
  g_free (self);
}

bool
sysprof_text_query_is_empty (const TextQuery *self)
{
  return self->n_terms == 0;
}

/* memmem(), whose preparation takes longer than all of the search where a text is as short as names are. */
static const char *
find_term (const char *text, size_t size, const Term *term)
{
  const char *end = text + size;

  if (size > SHORT_TEXT)
    return memmem (text, size, term->at, term->size);
  while ((size_t) (end - text) >= term->size)
    {
      text = memchr (text, term->at[0], (size_t) (end - text) - term->size + 1);
      if (text == NULL)
        return NULL;
      if (memcmp (text, term->at, term->size) == 0)
        return text;
      text++;
    }
  return NULL;
}

static TextFit
fit_of_term (const Term *term,
             const char *text,
             size_t size,
             const uint8_t *words,
             size_t first_bit)
{
  const char *end = text + size;
  const char *at = find_term (text, size, term);

  if (at == NULL)
    return TEXT_DOES_NOT_FIT;
  if (at == text)
    return TEXT_BEGINS;
  for (unsigned i = 0; words != NULL && at != NULL && i < MOST_PLACES; i++)
    {
      if (sysprof_bit_is_set (words, first_bit + (size_t) (at - text)))
        return TEXT_BEGINS_WORDS;
      at++;
      at = find_term (at, (size_t) (end - at), term);
    }
  return TEXT_CONTAINS;
}

static bool
is_whole (const TextQuery *self, const char *text, size_t size)
{
  return size >= self->whole_size && memcmp (text, self->whole, self->whole_size) == 0 &&
         (size == self->whole_size || text[self->whole_size] == FIELD_END);
}

TextFit
sysprof_text_query_fit_folded (const TextQuery *self,
                               const char *text,
                               size_t size,
                               const uint8_t *words,
                               size_t first_bit)
{
  TextFit fit = TEXT_DOES_NOT_FIT;

  for (uint32_t i = 0; i < self->n_terms; i++)
    {
      TextFit of_term = fit_of_term (&self->terms[i], text, size, words, first_bit);

      if (of_term == TEXT_DOES_NOT_FIT)
        return TEXT_DOES_NOT_FIT;
      /* A text that begins with its second term begins a word with it. */
      if (i == 0)
        fit = of_term;
      else if (of_term == TEXT_CONTAINS && fit == TEXT_BEGINS_WORDS)
        fit = TEXT_CONTAINS;
    }
  return fit == TEXT_BEGINS && is_whole (self, text, size) ? TEXT_IS_QUERY : fit;
}

TextFit
sysprof_text_query_fit (const TextQuery *self, const TextFields *text)
{
  const size_t size = sysprof_folded_size (text);
  g_autofree char *folded = g_malloc (size + 1);
  g_autofree uint8_t *words = g_malloc0 (size / 8 + 1);

  (void) sysprof_fold_text (text, folded, words, 0); /* the size is known */
  return sysprof_text_query_fit_folded (self, folded, size, words, 0);
}

uint32_t
sysprof_text_query_get_n_terms (const TextQuery *self)
{
  return self->n_terms;
}

uint64_t
sysprof_text_query_find_terms (const TextQuery *self, uint32_t first, const char *text)
{
  const TextFields fields = { { text } };
  const size_t size = sysprof_folded_size (&fields);
  const uint32_t n = self->n_terms - MIN (first, self->n_terms);
  g_autofree char *folded = g_malloc (size + 1);
  uint64_t found = 0;

  (void) sysprof_fold_text (&fields, folded, NULL, 0); /* the size is known */
  for (uint32_t i = 0; i < MIN (n, 64); i++)
    if (find_term (folded, size, &self->terms[first + i]) != NULL)
      found |= UINT64_C (1) << i;
  return found;
}
