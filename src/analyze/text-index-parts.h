// SPDX-License-Identifier: GPL-3.0-or-later

/* What making an index and asking it have in common. */

#pragma once

#include "analyze/text-index.h"

#include <string.h>

#define LIST_BITS 18
#define N_LISTS   (1u << LIST_BITS)

/* Bytes that stand for places, where names have none: the folding makes blanks of control characters. */
#define AT_BEGIN '\1'
#define AT_WORD  '\2'
#define AT_END   '\3'

struct TextIndex
{
  char *text;       /* folded, each name with a NUL behind it */
  uint64_t *begin;  /* [n + 1] of each name in `text` */
  uint8_t *is_word; /* bit per byte of `text`: a word begins there */
  uint32_t *list;   /* [N_LISTS + 1] into `blocks` */
  uint16_t *blocks; /* of each list, ascending */
  uint32_t n;       /* names */
  uint32_t n_blocks;
  uint32_t per_block; /* names */
};

static inline uint32_t
hash_gram (unsigned char a, unsigned char b, unsigned char c)
{
  const uint32_t gram = (uint32_t) a | (uint32_t) b << 8 | (uint32_t) c << 16;

  return (gram * UINT32_C (2654435761)) >> (32 - LIST_BITS);
}

static inline bool
is_word_at (const TextIndex *self, uint64_t at)
{
  return (self->is_word[at >> 3] >> (at & 7) & 1) != 0;
}

/* Room for a folded text: U+0130, say, has two bytes, and its small letter's three. */
static inline size_t
sysprof_folded_room (size_t size)
{
  return size + size / 2 + 1;
}

/* In lower case, without control characters; returns the end. */
char *sysprof_fold_text (const char *text, size_t size, char *to);

/* Whether a word begins at a place of a folded text: behind what is no letter, and where a capital followed a small one.
 * Only names without other than ASCII characters are as long as they were, and have their capitals looked at. */
bool sysprof_begins_word (const char *folded,
                          size_t folded_size,
                          const char *name,
                          size_t size,
                          size_t at);
