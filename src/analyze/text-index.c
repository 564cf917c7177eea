// SPDX-License-Identifier: GPL-3.0-or-later

/* Names stand one behind the other, folded to lower case, in blocks of some hundred. For each gram (one, two or three
 * neighbouring bytes, some of them at the beginning of a word or at either end of the name) the blocks are listed that
 * contain it. A question meets the lists of its grams and reads only the blocks that are in all of them: the more is
 * typed, the fewer. Grams share lists by a hash, which costs reading a block for nothing now and then.
 *
 * Better fits come first by asking once per fit, each with the grams that only it has; so the answer may stop at the
 * limit without having seen the rest. */

#include "analyze/text-index.h"

#include "util/util.h"

#include <string.h>

#define LIST_BITS   18
#define N_LISTS     (1u << LIST_BITS)
#define LEAST_BLOCK 256   /* names */
#define MOST_BLOCKS 65536 /* as many as a uint16_t tells apart */
#define MOST_TERMS  16

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

/* --- folding --- */

/* In lower case, without control characters. Never longer than a third more: no letter's other case is. */
static char *
fold_text (const char *text, size_t size, char *to)
{
  const char *end = text + size;

  while (text < end)
    {
      const unsigned char c = (unsigned char) *text;
      gunichar wide;

      if (c < 0x80)
        {
          *to++ = c < ' ' ? ' ' : g_ascii_tolower (*text);
          text++;
          continue;
        }
      wide = g_utf8_get_char_validated (text, end - text);
      if (wide == (gunichar) -1 || wide == (gunichar) -2)
        {
          *to++ = *text++;
          continue;
        }
      text = g_utf8_next_char (text);
      to += g_unichar_to_utf8 (g_unichar_tolower (wide), to);
    }
  return to;
}

/* Room for a folded text: U+0130, say, has two bytes, and its small letter's three. */
static size_t
folded_room (size_t size)
{
  return size + size / 2 + 1;
}

static inline bool
is_in_word (char c)
{
  return g_ascii_isalnum (c) || (c & 0x80) != 0;
}

static inline bool
begins_word (const char *text, size_t at)
{
  return is_in_word (text[at]) && (at == 0 || !is_in_word (text[at - 1]));
}

static inline bool
is_word_at (const TextIndex *self, uint64_t at)
{
  return (self->is_word[at >> 3] >> (at & 7) & 1) != 0;
}

/* Where words begin: behind what is no letter, and where a capital follows a small one. Only names without other than
 * ASCII characters are as long as they were. */
static void
mark_words (TextIndex *self, const char *name, size_t size, uint64_t begin, size_t folded_size)
{
  const char *folded = self->text + begin;

  for (size_t i = 0; i < folded_size; i++)
    if (begins_word (folded, i) || (i > 0 && folded_size == size && g_ascii_isupper (name[i]) &&
                                    g_ascii_islower (name[i - 1])))
      self->is_word[(begin + i) >> 3] |= (uint8_t) (1u << ((begin + i) & 7));
}

/* --- making it --- */

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
fold_names (TextIndex *self, const char *const *names)
{
  size_t room = 0;
  char *to;

  for (uint32_t i = 0; i < self->n; i++)
    room += folded_room (strlen (names[i]));

  self->text = g_malloc (room + 1);
  self->begin = g_new (uint64_t, self->n + 1);
  to = self->text;
  for (uint32_t i = 0; i < self->n; i++)
    {
      self->begin[i] = (uint64_t) (to - self->text);
      to = fold_text (names[i], strlen (names[i]), to);
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

/* --- asking --- */

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

  question->folded = g_malloc (folded_room (size) + 1);
  end = fold_text (query, size, question->folded);
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
