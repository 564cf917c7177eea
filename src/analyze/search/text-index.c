// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes an index of names, each block on one CPU: folds its texts and lists their grams. Then the lists are put together.
 *
 * A gram of three is looked at once per byte; those of two and one only where it is new in its block. */

#include "analyze/search/text-index-parts.h"

#include "util/util.h"

#include <assert.h>

#define LEAST_BLOCK 8192  /* bytes */
#define MOST_BLOCKS 65535 /* as many as a uint16_t counts */

/* What names are made of has classes of its own. */
const uint8_t sysprof_gram_classes[256] = {
/* clang-format off */
#define C(n) CLASS_FIRST + (n)
#define R CLASS_RARE
#define F8 CLASS_FOREIGN, CLASS_FOREIGN + 1, CLASS_FOREIGN + 2, CLASS_FOREIGN + 3, \
           CLASS_FOREIGN + 4, CLASS_FOREIGN + 5, CLASS_FOREIGN + 6, CLASS_FOREIGN + 7
  ['\0'] = CLASS_END, [FIELD_END] = CLASS_END,
  ['a'] = C (0), C (1), C (2), C (3), C (4), C (5), C (6), C (7), C (8), C (9), C (10), C (11), C (12),
          C (13), C (14), C (15), C (16), C (17), C (18), C (19), C (20), C (21), C (22), C (23), C (24), C (25),
  ['0'] = C (26), C (27), C (28), C (29), C (30), C (31), C (32), C (33), C (34), C (35),
  [' '] = C (36), ['_'] = C (37), [':'] = C (38), ['.'] = C (39), ['/'] = C (40), ['-'] = C (41), ['('] = C (42),
  [')'] = C (43), ['<'] = C (44), ['>'] = C (45), [','] = C (46), ['*'] = C (47), ['&'] = C (48), ['['] = C (49),
  [']'] = C (50), ['+'] = C (51),
  ['!'] = R, R, R, R, R, ['\''] = R, [';'] = R, ['='] = R, ['?'] = R, R, ['\\'] = R, ['^'] = R, ['`'] = R,
  ['{'] = R, R, R, R, R,
  [128] = F8, F8, F8, F8, F8, F8, F8, F8, F8, F8, F8, F8, F8, F8, F8, F8,
#undef C
#undef R
#undef F8
  /* clang-format on */
};
static_assert (CLASS_FIRST + 51 < N_CLASSES, "a gram has six bits for each character");

/* What one worker found in its blocks. */
typedef struct
{
  uint32_t *lists; /* [n_lists] the distinct lists of one block behind those of the other */
  size_t n_lists;
  size_t capacity;
  uint32_t *n_found; /* [end - begin] per block */
  size_t *
      next; /* [N_LISTS] how many of each list; then where in TextIndex.blocks its next one goes */
  uint32_t begin; /* its first block */
  uint32_t end;
} Part;

typedef struct
{
  TextIndex *index;
  TextSignature *signatures; /* [64 * slice_size] */
  const TextFields *texts;
  GCancellable *cancellable;
  Part *parts; /* [workers] those without a block are zero */
} Making;

typedef struct
{
  uint16_t *stamp; /* [N_LISTS] 1 + the block of the part that was last put there */
  uint16_t block;  /* 1 + the same */
  Part *part;
} Listing;

/* FALSE if the block has it already. */
static inline bool
list_gram (Listing *listing, uint32_t list)
{
  Part *part = listing->part;

  if (listing->stamp[list] == listing->block)
    return false;
  listing->stamp[list] = listing->block;
  if (part->n_lists == part->capacity)
    {
      part->capacity = MAX (4096, part->capacity * 2);
      part->lists = g_renew (uint32_t, part->lists, part->capacity);
    }
  part->lists[part->n_lists++] = list;
  return true;
}

static inline void
list_grams (Listing *listing, TextSignature *signature, uint32_t a, uint32_t b, uint32_t c)
{
  sysprof_signature_add (signature, sysprof_gram_of_two (a, b));
  sysprof_signature_add (signature, sysprof_gram_of_three (a, b, c));
  if (list_gram (listing, sysprof_gram_of_three (a, b, c)) &&
      list_gram (listing, sysprof_gram_of_two (a, b)))
    list_gram (listing, sysprof_gram_of_one (a));
}

/* A folded text with a NUL behind it. */
static TextSignature
list_text (Listing *listing,
           const char *text,
           size_t size,
           const uint8_t *words,
           size_t first_bit)
{
  TextSignature signature = { { 0, 0 } };
  uint32_t a = sysprof_gram_classes[(uint8_t) text[0]];
  uint32_t b = size > 0 ? sysprof_gram_classes[(uint8_t) text[1]] : 0;

  list_grams (listing, &signature, CLASS_BEGIN, a, b);
  for (size_t i = 0; i < size; i++)
    {
      uint32_t c = i + 1 < size ? sysprof_gram_classes[(uint8_t) text[i + 2]] : 0;

      list_grams (listing, &signature, a, b, c);
      /* What begins the text counts as the beginning of a word. */
      if (i == 0 || sysprof_bit_is_set (words, first_bit + i))
        list_grams (listing, &signature, CLASS_WORD, a, b);
      a = b;
      b = c;
    }
  return signature;
}

static void
make_block (const Making *making, uint32_t block, Listing *listing)
{
  const TextIndex *index = making->index;
  const uint64_t begin = index->begin[index->first_text[block]];
  uint8_t *words = sysprof_block_words (index, block);

  for (uint32_t text = index->first_text[block]; text < index->first_text[block + 1]; text++)
    {
      char *to = index->folded + index->begin[text];
      const size_t bit = (size_t) (index->begin[text] - begin);
      char *end = sysprof_fold_text (&making->texts[text], to, words, bit);

      *end = '\0';
      making->signatures[text] = list_text (listing, to, (size_t) (end - to), words, bit);
    }
}

static void
make_blocks (size_t begin, size_t end, unsigned worker, void *data)
{
  const Making *making = data;
  Part *part = &making->parts[worker];
  Listing listing = { .stamp = g_new0 (uint16_t, N_LISTS), .part = part };

  part->n_found = g_new0 (uint32_t, MAX (end - begin, 1));
  part->begin = (uint32_t) begin;
  part->end = (uint32_t) end;
  for (size_t block = begin; block < end && !g_cancellable_is_cancelled (making->cancellable);
       block++)
    {
      const size_t before = part->n_lists;

      listing.block = (uint16_t) (block - begin + 1);
      make_block (making, (uint32_t) block, &listing);
      part->n_found[block - begin] = (uint32_t) (part->n_lists - before);
    }
  g_free (listing.stamp);

  part->next = g_new0 (size_t, N_LISTS);
  for (size_t i = 0; i < part->n_lists; i++)
    part->next[part->lists[i]]++;
}

/* The parts have ascending blocks, and so has each list. */
static void
lay_out_lists (TextIndex *self, Part *parts, unsigned n_parts)
{
  size_t n = 0;

  self->list = g_new (size_t, N_LISTS + 1);
  for (uint32_t list = 0; list < N_LISTS; list++)
    {
      self->list[list] = n;
      for (unsigned i = 0; i < n_parts && parts[i].next != NULL; i++)
        {
          const size_t n_of_part = parts[i].next[list];

          parts[i].next[list] = n;
          n += n_of_part;
        }
    }
  self->list[N_LISTS] = n;
  self->blocks = sysprof_large_new (MAX (n, 1), sizeof *self->blocks);
}

static void
fill_lists (size_t begin, size_t end, unsigned worker, void *data)
{
  const Making *making = data;

  (void) worker; /* any may do it */
  for (size_t i = begin; i < end; i++)
    {
      const Part *part = &making->parts[i];
      const uint32_t *list = part->lists;

      for (uint32_t block = part->begin; block < part->end; block++)
        for (uint32_t n = part->n_found[block - part->begin]; n > 0; n--)
          making->index->blocks[part->next[*list++]++] = (uint16_t) block;
    }
}

static void
measure_texts (size_t begin, size_t end, unsigned worker, void *data)
{
  const Making *making = data;

  (void) worker; /* each writes its own texts' */
  for (size_t i = begin; i < end; i++)
    making->index->begin[i + 1] = sysprof_folded_size (&making->texts[i]) + 1;
}

/* Where all texts and blocks begin. */
static void
lay_out_texts (TextIndex *self)
{
  uint64_t least_block, size = 0;

  for (uint32_t i = 0; i < self->n; i++)
    self->begin[i + 1] += self->begin[i];
  size = self->begin[self->n];
  least_block = MAX (LEAST_BLOCK, size / MOST_BLOCKS + 1);

  self->first_text = g_new (uint32_t, size / least_block + 2);
  self->first_text[0] = 0;
  for (uint32_t i = 0; i < self->n; i++)
    if (self->begin[i + 1] - self->begin[self->first_text[self->n_blocks]] >= least_block ||
        i + 1 == self->n)
      self->first_text[++self->n_blocks] = i + 1;
  self->folded = sysprof_large_new (size + 1, 1);
  self->slice_size = self->n / 64 + 1;
  self->slices = sysprof_large_new (self->slice_size * SIGNATURE_BITS, sizeof *self->slices);
  self->words = sysprof_large_new0 (size / 8 + self->n_blocks + 1, 1);
}

/* Bit i of word k becomes bit k of word i: halves of ever smaller squares change places. */
static void
transpose (uint64_t square[64])
{
  uint64_t mask = UINT64_C (0xffffffff);

  for (unsigned size = 32; size > 0; size /= 2, mask ^= mask << size)
    for (unsigned k = 0; k < 64; k = (k + size + 1) & ~size)
      {
        const uint64_t changed = ((square[k] >> size) ^ square[k + size]) & mask;

        square[k] ^= changed << size;
        square[k + size] ^= changed;
      }
}

static void
slice_signatures (size_t begin, size_t end, unsigned worker, void *data)
{
  const Making *making = data;
  const TextIndex *index = making->index;

  (void) worker; /* each writes its own words */
  for (size_t word = begin; word < end; word++)
    for (unsigned part = 0; part < SIGNATURE_WORDS; part++)
      {
        uint64_t square[64];

        for (unsigned i = 0; i < 64; i++)
          square[i] = making->signatures[word * 64 + i].bits[part];
        transpose (square);
        for (unsigned i = 0; i < 64; i++)
          index->slices[(part * 64 + i) * index->slice_size + word] = square[i];
      }
}

static void
count_slices (size_t begin, size_t end, unsigned worker, void *data)
{
  TextIndex *index = ((const Making *) data)->index;

  (void) worker; /* each writes its own counts */
  for (size_t slice = begin; slice < end; slice++)
    for (size_t word = 0; word < index->slice_size; word++)
      index->n_in_slice[slice] +=
          (uint32_t) __builtin_popcountll (index->slices[slice * index->slice_size + word]);
}

TextIndex *
sysprof_text_index_new (const TextFields *texts, uint32_t n, GCancellable *cancellable)
{
  TextIndex *self = g_new0 (TextIndex, 1);
  const unsigned n_workers = sysprof_parallel_workers ();
  Making making = {
    .index = self, .texts = texts, .cancellable = cancellable, .parts = g_new0 (Part, n_workers)
  };
  bool is_cancelled;

  self->n = n;
  self->begin = sysprof_large_new ((size_t) n + 1, sizeof *self->begin);
  self->begin[0] = 0;
  sysprof_parallel_ranges (n, 4096, measure_texts, &making);
  lay_out_texts (self);
  making.signatures = sysprof_large_new0 (self->slice_size * 64, sizeof *making.signatures);
  sysprof_parallel_ranges (self->n_blocks, 8, make_blocks, &making);
  is_cancelled = g_cancellable_is_cancelled (cancellable);
  if (!is_cancelled)
    {
      lay_out_lists (self, making.parts, n_workers);
      sysprof_parallel_ranges (n_workers, 1, fill_lists, &making);
      sysprof_parallel_ranges (self->slice_size, 64, slice_signatures, &making);
      sysprof_parallel_ranges (SIGNATURE_BITS, 8, count_slices, &making);
    }

  for (unsigned i = 0; i < n_workers; i++)
    {
      g_free (making.parts[i].lists);
      g_free (making.parts[i].n_found);
      g_free (making.parts[i].next);
    }
  g_free (making.parts);
  g_free (making.signatures);
  if (!is_cancelled)
    return self;
  sysprof_text_index_free (self);
  return NULL;
}

void
sysprof_text_index_free (TextIndex *self)
{
  if (self == NULL)
    return;
  g_free (self->folded);
  g_free (self->begin);
  g_free (self->words);
  g_free (self->slices);
  g_free (self->first_text);
  g_free (self->list);
  g_free (self->blocks);
  g_free (self);
}

size_t
sysprof_text_index_size (const TextIndex *self)
{
  const size_t size = self->begin[self->n];

  return sizeof *self + size + size / 8 + self->n_blocks * (1 + sizeof *self->first_text) +
         (self->n + (size_t) 1) * sizeof *self->begin +
         self->slice_size * SIGNATURE_BITS * sizeof *self->slices +
         (N_LISTS + 1) * sizeof *self->list + self->list[N_LISTS] * sizeof *self->blocks;
}
