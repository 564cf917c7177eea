// SPDX-License-Identifier: GPL-3.0-or-later

/* Names stand one behind the other, folded to lower case, in blocks of some hundred. For each gram (one, two or three
 * neighbouring bytes, some of them at the beginning of a word or at either end of the name) the blocks are listed that
 * contain it. A question meets the lists of its grams and reads only the blocks that are in all of them: the more is
 * typed, the fewer. Grams share lists by a hash, which costs reading a block for nothing now and then.
 *
 * Better fits come first by asking once per fit, each with the grams that only it has; so the answer may stop at the
 * limit without having seen the rest. */

#include "analyze/text-index-parts.h"

#include "util/util.h"

#define LEAST_BLOCK 256   /* names */
#define MOST_BLOCKS 65536 /* as many as a uint16_t tells apart */

/* What one worker made of its blocks. */
typedef struct
{
  uint32_t *lists; /* [n_lists] the distinct lists of one block behind those of the other */
  size_t n_lists;
  size_t capacity;
  uint32_t *n_found; /* [end - begin] per block */
  size_t begin;      /* its first block */
  size_t end;        /* 0: it had none */
} Part;

typedef struct
{
  const TextIndex *index;
  GCancellable *cancellable;
  Part *parts; /* [workers] */
} Making;

typedef struct
{
  uint32_t *stamp; /* [N_LISTS] 1 + the block that was last put there */
  uint32_t block;
  Part *part;
} Listing;

static inline void
list_gram (Listing *listing, char a, char b, char c)
{
  const uint32_t list = hash_gram ((unsigned char) a, (unsigned char) b, (unsigned char) c);
  Part *part = listing->part;

  if (listing->stamp[list] == listing->block + 1)
    return;
  listing->stamp[list] = listing->block + 1;
  if (part->n_lists == part->capacity)
    {
      part->capacity = MAX (4096, part->capacity * 2);
      part->lists = g_renew (uint32_t, part->lists, part->capacity);
    }
  part->lists[part->n_lists++] = list;
}

static void
list_name (const TextIndex *self, uint32_t name, Listing *listing)
{
  const uint64_t begin = self->begin[name];
  const char *text = self->text + begin;
  const size_t size = self->begin[name + 1] - begin - 1;

  /* A NUL stands behind it, so that the gram of the last byte is that of the byte alone, and so on. */
  for (size_t i = 0; i < size; i++)
    {
      list_gram (listing, text[i], 0, 0);
      list_gram (listing, text[i], text[i + 1], 0);
      if (i + 2 < size)
        list_gram (listing, text[i], text[i + 1], text[i + 2]);
      if (i == 0 || is_word_at (self, begin + i))
        {
          list_gram (listing, AT_WORD, text[i], 0);
          list_gram (listing, AT_WORD, text[i], text[i + 1]);
        }
    }
  if (size == 0)
    return;

  list_gram (listing, AT_BEGIN, text[0], 0);
  list_gram (listing, AT_BEGIN, text[0], text[1]);
  list_gram (listing, size > 1 ? text[size - 2] : AT_BEGIN, text[size - 1], AT_END);
}

static void
list_blocks (size_t begin, size_t end, unsigned worker, void *data)
{
  Making *making = data;
  const TextIndex *index = making->index;
  Part *part = &making->parts[worker];
  Listing listing = { .stamp = g_new0 (uint32_t, N_LISTS), .part = part };

  *part = (Part){ .n_found = g_new0 (uint32_t, end - begin), .begin = begin, .end = end };
  for (size_t block = begin; block < end && !g_cancellable_is_cancelled (making->cancellable);
       block++)
    {
      const uint32_t first = (uint32_t) block * index->per_block;
      const uint32_t last = MIN (first + index->per_block, index->n);
      const size_t before = part->n_lists;

      listing.block = (uint32_t) block;
      for (uint32_t name = first; name < last; name++)
        list_name (index, name, &listing);
      part->n_found[block - begin] = (uint32_t) (part->n_lists - before);
    }
  g_free (listing.stamp);
}

/* The blocks of each list, ascending as they are taken in order. */
static void
gather_lists (TextIndex *self, const Part *parts, unsigned n_parts)
{
  g_autofree uint32_t *at = g_new (uint32_t, N_LISTS + 1);
  size_t block = 0;

  self->list = g_new0 (uint32_t, N_LISTS + 1);
  for (unsigned i = 0; i < n_parts; i++)
    for (size_t j = 0; j < parts[i].n_lists; j++)
      self->list[parts[i].lists[j] + 1]++;
  for (uint32_t list = 0; list < N_LISTS; list++)
    self->list[list + 1] += self->list[list];

  memcpy (at, self->list, (N_LISTS + 1) * sizeof *at);
  self->blocks = g_new (uint16_t, MAX (self->list[N_LISTS], 1));
  while (block < self->n_blocks)
    {
      const Part *part = parts;
      const uint32_t *list;

      while (part->end == 0 || part->begin != block)
        part++;
      for (list = part->lists; block < part->end; block++)
        for (uint32_t n = part->n_found[block - part->begin]; n > 0; n--)
          self->blocks[at[*list++]++] = (uint16_t) block;
    }
}

static void
list_all_blocks (TextIndex *self, GCancellable *cancellable)
{
  const unsigned n_parts = sysprof_parallel_workers ();
  Making making = { self, cancellable, g_new0 (Part, n_parts) };

  sysprof_parallel_ranges (self->n_blocks, 16, list_blocks, &making);
  if (!g_cancellable_is_cancelled (cancellable))
    gather_lists (self, making.parts, n_parts);

  for (unsigned i = 0; i < n_parts; i++)
    {
      g_free (making.parts[i].lists);
      g_free (making.parts[i].n_found);
    }
  g_free (making.parts);
}

static void
mark_words (TextIndex *self, const char *name, size_t size, uint64_t begin, size_t folded_size)
{
  for (size_t i = 0; i < folded_size; i++)
    if (sysprof_begins_word (self->text + begin, folded_size, name, size, i))
      self->is_word[(begin + i) >> 3] |= (uint8_t) (1u << ((begin + i) & 7));
}

static void
fold_names (TextIndex *self, const char *const *names)
{
  size_t room = 0;
  char *to;

  for (uint32_t i = 0; i < self->n; i++)
    room += sysprof_folded_room (strlen (names[i]));

  self->text = g_malloc (room + 1);
  self->begin = g_new (uint64_t, self->n + 1);
  to = self->text;
  for (uint32_t i = 0; i < self->n; i++)
    {
      self->begin[i] = (uint64_t) (to - self->text);
      to = sysprof_fold_text (names[i], strlen (names[i]), to);
      *to++ = '\0';
    }
  self->begin[self->n] = (uint64_t) (to - self->text);
  self->text = g_realloc (self->text, self->begin[self->n] + 1);

  self->is_word = g_malloc0 (self->begin[self->n] / 8 + 1);
  for (uint32_t i = 0; i < self->n; i++)
    mark_words (self, names[i], strlen (names[i]), self->begin[i],
                self->begin[i + 1] - self->begin[i] - 1);
}

TextIndex *
sysprof_text_index_new (const char *const *names, uint32_t n, GCancellable *cancellable)
{
  TextIndex *self = g_new0 (TextIndex, 1);

  self->n = n;
  self->per_block =
      (uint32_t) MAX (LEAST_BLOCK, ((uint64_t) n + MOST_BLOCKS - 1) / MOST_BLOCKS);
  self->n_blocks = (uint32_t) (((uint64_t) n + self->per_block - 1) / self->per_block);
  fold_names (self, names);
  list_all_blocks (self, cancellable);
  if (!g_cancellable_is_cancelled (cancellable))
    return self;

  sysprof_text_index_free (self);
  return NULL;
}

void
sysprof_text_index_free (TextIndex *self)
{
  if (self == NULL)
    return;
  g_free (self->text);
  g_free (self->begin);
  g_free (self->is_word);
  g_free (self->list);
  g_free (self->blocks);
  g_free (self);
}

size_t
sysprof_text_index_size (const TextIndex *self)
{
  return sizeof *self + self->begin[self->n] * 9 / 8 + (self->n + 1) * sizeof *self->begin +
         (N_LISTS + 1) * sizeof *self->list + self->list[N_LISTS] * sizeof *self->blocks;
}
