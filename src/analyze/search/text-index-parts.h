// SPDX-License-Identifier: GPL-3.0-or-later

/* The shared parts of the search for names.
 *
 *   text-fold.c    prepares texts for comparison
 *   text-query.c   the query, and whether a text matches
 *   text-index.c   makes the index
 *   text-find.c    looks up the index
 *
 * Folded texts are stored in blocks of some thousand bytes. A gram is one, two or three
 * adjacent characters; the first may be the start of the text or of a word, and the last the
 * end of a field. For each gram there is a list of the blocks that have it. A query intersects
 * the lists of its grams and reads only the blocks in all of them, so longer queries read fewer
 * blocks. Each text in a block has a signature of its grams. It is read only if the signature
 * has the grams of the query, because two terms may be in every block but together in no text.
 * Rare characters share one of 64 classes, so some blocks are read in vain. */

#pragma once

#include "analyze/search/text-index.h"

#include <string.h>

/* --- folding --- */

/* Between the fields of a folded text, which has a NUL behind it and no other control characters. */
#define FIELD_END '\n'

static inline bool
sysprof_bit_is_set (const uint8_t *bits, size_t bit)
{
  return (bits[bit >> 3] >> (bit & 7) & 1) != 0;
}

/* Bytes of what sysprof_fold_text() writes. */
size_t sysprof_folded_size (const TextFields *text);
/* In lower case, without NUL behind it; returns the end. Of the bits from words[first_bit] on those are set at whose place
 * a word begins; `words` may be NULL. */
char *sysprof_fold_text (const TextFields *text, char *to, uint8_t *words, size_t first_bit);

/* --- questions --- */

typedef struct
{
  const char *at; /* folded */
  size_t size;
} Term;

struct TextQuery
{
  char *whole; /* folded, without blanks around it */
  size_t whole_size;
  Term *terms; /* [n_terms] in `whole` */
  uint32_t n_terms;
};

/* Of a folded text. */
TextFit sysprof_text_query_fit_folded (const TextQuery *self,
                                       const char *text,
                                       size_t size,
                                       const uint8_t *words,
                                       size_t first_bit);

/* --- grams --- */

enum
{
  CLASS_END, /* of a field */
  CLASS_BEGIN,
  CLASS_WORD,
  CLASS_RARE,
  CLASS_FOREIGN, /* and the 7 behind: of bytes that are not ASCII, by their last bits */
  CLASS_FIRST = CLASS_FOREIGN + 8,
  N_CLASSES = 64,
};

/* The number of the list of a gram. A text with a gram also has the shorter grams at its
 * start. */
enum
{
  LISTS_OF_TWO = N_CLASSES * N_CLASSES * N_CLASSES,
  LISTS_OF_ONE = LISTS_OF_TWO + N_CLASSES * N_CLASSES,
  N_LISTS = LISTS_OF_ONE + N_CLASSES,
};

static inline uint32_t
sysprof_gram_of_three (uint32_t a, uint32_t b, uint32_t c)
{
  return (a * N_CLASSES + b) * N_CLASSES + c;
}

static inline uint32_t
sysprof_gram_of_two (uint32_t a, uint32_t b)
{
  return LISTS_OF_TWO + a * N_CLASSES + b;
}

static inline uint32_t
sysprof_gram_of_one (uint32_t a)
{
  return LISTS_OF_ONE + a;
}

/* [256] of each byte of a folded text. */
extern const uint8_t sysprof_gram_classes[];

/* A bit for each gram of two or three that a text has; several share one. */
enum
{
  SIGNATURE_WORDS = 4,
  SIGNATURE_BITS = SIGNATURE_WORDS * 64,
};

typedef struct
{
  uint64_t bits[SIGNATURE_WORDS];
} TextSignature;

static inline void
sysprof_signature_add (TextSignature *self, uint32_t gram)
{
  const uint32_t bit =
      (gram * UINT32_C (2654435761)) >> 24; /* Knuth's; the upper 8 bits of it */

  self->bits[bit >> 6] |= UINT64_C (1) << (bit & 63);
}

struct TextIndex
{
  char *folded;    /* each text with a NUL behind it */
  uint64_t *begin; /* [n + 1] of each text in `folded` */
  uint8_t
      *words; /* a bit per byte of `folded`; those of a block begin with a byte, see below */
  /* The signatures, bit by bit: of each of the SIGNATURE_BITS a bit for each text [slice_size]. A question has few bits, and
   * so reads a few slices of many texts instead of all bits of each. */
  uint64_t *slices;
  size_t slice_size;                   /* words */
  uint32_t n_in_slice[SIGNATURE_BITS]; /* texts that have the bit */
  uint32_t *first_text;                /* [n_blocks + 1] */
  size_t *list;                        /* [N_LISTS + 1] into `blocks` */
  uint16_t *blocks;                    /* of each list, ascending */
  uint32_t n;                          /* texts */
  uint32_t n_blocks;
};

/* The bits of a block. */
static inline uint8_t *
sysprof_block_words (const TextIndex *self, uint32_t block)
{
  return self->words + self->begin[self->first_text[block]] / 8 + block;
}
