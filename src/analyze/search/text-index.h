// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds names while the user types: several terms, parts of words, ignoring case, best match
 * first.
 *
 * A text has fields: first its name, then other texts such as its library or group. Terms may
 * match in any field. Texts need not be UTF-8. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

#define TEXT_MOST_FIELDS 3

typedef struct
{
  const char *field[TEXT_MOST_FIELDS]; /* up to one that is NULL */
} TextFields;

/* How well a text fits, best first. */
typedef enum
{
  TEXT_IS_QUERY, /* its first field, as a whole */
  TEXT_BEGINS,   /* with the first term */
  /* in which all terms start a word: after a character that is no letter or digit, and at
   * capitals as in getName and HTMLText. If a term occurs very often, only its first 64
   * positions count. */
  TEXT_BEGINS_WORDS,
  TEXT_CONTAINS,
  TEXT_DOES_NOT_FIT,
} TextFit;
#define N_TEXT_FITS TEXT_DOES_NOT_FIT

/* --- one text at a time --- */

/* What is sought: terms, which blanks separate. *Frozen*. */
typedef struct TextQuery TextQuery;

TextQuery *sysprof_text_query_new (const char *query); /* *(full)* */
void sysprof_text_query_free (TextQuery *self);
/* Without any term. Nothing fits it. */
bool sysprof_text_query_is_empty (const TextQuery *self);
TextFit sysprof_text_query_fit (const TextQuery *self, const TextFields *text);
uint32_t sysprof_text_query_get_n_terms (const TextQuery *self);
/* Which of the 64 terms from `first` on a text contains: one bit each, that of `first` is the lowest. */
uint64_t
sysprof_text_query_find_terms (const TextQuery *self, uint32_t first, const char *text);

/* --- many --- */

typedef struct TextIndex TextIndex;

typedef struct
{
  uint32_t text; /* index into those that were given */
  TextFit fit;
} TextMatch;

/* Of texts[n], which are not kept; on all CPUs. Among those that fit equally well an earlier one is found first. NULL if
 * it was cancelled. *Frozen*: any thread may search. *(full)* */
TextIndex *
sysprof_text_index_new (const TextFields *texts, uint32_t n, GCancellable *cancellable);
void sysprof_text_index_free (TextIndex *self);

/* The best `limit` texts that match; if canceled, of those found so far. *(full)* */
TextMatch *sysprof_text_index_find (const TextIndex *self,
                                    const TextQuery *query,
                                    uint32_t limit,
                                    uint32_t *n_matches,
                                    GCancellable *cancellable);

/* Bytes of memory that it holds: those of the texts, an eighth more for words, 40 for each text, 2 for each gram of each
 * block (some 20 for a name of 40 bytes), and 2 MiB. Making it takes two to four times that of the grams for a moment. */
size_t sysprof_text_index_size (const TextIndex *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TextQuery, sysprof_text_query_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TextIndex, sysprof_text_index_free)
