// SPDX-License-Identifier: GPL-3.0-or-later

/* An index of names for searching while somebody types: parts of words, several terms, case ignored, best first. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct TextIndex TextIndex;

/* How well a name fits, best first. */
typedef enum
{
  TEXT_IS_QUERY,     /* nothing else stands there */
  TEXT_BEGINS,       /* with the first term */
  TEXT_BEGINS_WORDS, /* of which all terms are beginnings */
  TEXT_CONTAINS,
  N_TEXT_FITS,
} TextFit;

typedef struct
{
  uint32_t name; /* index into the names that were given */
  TextFit fit;
} TextMatch;

/* Of names[n], which need not be UTF-8 and are not kept. Among those that fit equally well an earlier one is found
 * first. NULL if it was cancelled. *Frozen*: any thread may search. *(full)* */
TextIndex *
sysprof_text_index_new (const char *const *names, uint32_t n, GCancellable *cancellable);
void sysprof_text_index_free (TextIndex *self);

/* The best `limit` names that contain all terms of the query, which blanks separate; none for an empty one. Each is
 * looked for as it stands in the rest of the text, case ignored. What was found until it was cancelled. *(full)* */
TextMatch *sysprof_text_index_find (const TextIndex *self,
                                    const char *query,
                                    uint32_t limit,
                                    uint32_t *n_matches,
                                    GCancellable *cancellable);

/* Bytes of memory that it holds. */
size_t sysprof_text_index_size (const TextIndex *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TextIndex, sysprof_text_index_free)
