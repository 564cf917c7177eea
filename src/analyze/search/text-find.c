// SPDX-License-Identifier: GPL-3.0-or-later

/* Asks an index of names, once for each way in which a text may fit, the best first, each with the grams that only it has:
 * so the answer may stop at the limit without having seen the rest. */

#include "analyze/search/text-index-parts.h"

#define MOST_GRAMS    64 /* more would not make the blocks fewer */
#define MOST_TOGETHER 32 /* texts */

/* A text that may fit. */
typedef struct
{
  uint32_t text;
  uint32_t block;
} Candidate;

typedef struct
{
  const TextIndex *index;
  const TextQuery *query;
  TextFit fit;     /* looked for now */
  GArray *matches; /* of TextMatch */
  uint32_t limit;
  /* A bit for each text that was found to fit in no way [slice_size]; NULL as long as there are none. */
  uint64_t *misfits;
  /* Texts are looked at together, so that one is fetched into the cache while another is; one at first, lest the best wait
   * for others. */
  Candidate candidates[MOST_TOGETHER];
  uint32_t n_candidates;
  uint32_t n_together;
} Question;

typedef struct
{
  uint32_t lists[MOST_GRAMS];
  uint32_t n;
  TextSignature signature;
} Grams;

static void
add_list (Grams *grams, uint32_t list)
{
  if (grams->n < MOST_GRAMS)
    grams->lists[grams->n++] = list;
}

static void
add_two (Grams *grams, uint32_t a, uint32_t b)
{
  sysprof_signature_add (&grams->signature, sysprof_gram_of_two (a, b));
  add_list (grams, sysprof_gram_of_two (a, b));
}

static void
add_three (Grams *grams, uint32_t a, uint32_t b, uint32_t c)
{
  /* A block that has three neighbours has two of them. */
  sysprof_signature_add (&grams->signature, sysprof_gram_of_two (a, b));
  if (c != CLASS_END)
    sysprof_signature_add (&grams->signature, sysprof_gram_of_two (b, c));
  sysprof_signature_add (&grams->signature, sysprof_gram_of_three (a, b, c));
  add_list (grams, sysprof_gram_of_three (a, b, c));
}

static uint32_t
class_at (const char *at)
{
  return sysprof_gram_classes[(uint8_t) *at];
}

/* What every text has that begins with the characters (and a word there). */
static void
add_beginning (Grams *grams, uint32_t place, const char *at, size_t size)
{
  if (size > 1)
    add_three (grams, place, class_at (at), class_at (at + 1));
  else
    add_two (grams, place, class_at (at));
}

/* What every text has that contains them. */
static void
add_inside (Grams *grams, const char *at, size_t size)
{
  if (size == 1)
    add_list (grams, sysprof_gram_of_one (class_at (at)));
  else if (size == 2)
    add_two (grams, class_at (at), class_at (at + 1));
  for (size_t i = 0; i + 2 < size; i++)
    add_three (grams, class_at (at + i), class_at (at + i + 1), class_at (at + i + 2));
}

static void
add_grams (Grams *grams, const TextQuery *query, TextFit fit)
{
  const char *end = query->whole + query->whole_size;

  if (fit == TEXT_IS_QUERY)
    {
      add_three (grams, query->whole_size > 1 ? class_at (end - 2) : CLASS_BEGIN,
                 class_at (end - 1), CLASS_END);
      add_beginning (grams, CLASS_BEGIN, query->whole, query->whole_size);
      add_inside (grams, query->whole, query->whole_size);
      return;
    }
  /* Counts what each position needs first, because there may be more than are checked. */
  if (fit == TEXT_BEGINS)
    add_beginning (grams, CLASS_BEGIN, query->terms[0].at, query->terms[0].size);
  else if (fit == TEXT_BEGINS_WORDS)
    for (uint32_t i = 0; i < query->n_terms; i++)
      add_beginning (grams, CLASS_WORD, query->terms[i].at, query->terms[i].size);
  for (uint32_t i = 0; i < query->n_terms; i++)
    add_inside (grams, query->terms[i].at, query->terms[i].size);
}

/* Those of the index that a question has bits of. */
typedef struct
{
  const uint64_t *slice[SIGNATURE_BITS];
  uint32_t n;
} Slices;

static int
compare_slices (const void *left, const void *right, void *data)
{
  const TextIndex *index = data;
  const uint32_t a = index->n_in_slice[*(const uint8_t *) left];
  const uint32_t b = index->n_in_slice[*(const uint8_t *) right];

  return a < b ? -1 : a > b;
}

/* Those of the fewest texts first, behind which the others are hardly looked at. */
static Slices
slices_of (const TextIndex *index, const TextSignature *signature)
{
  uint8_t bits[SIGNATURE_BITS];
  Slices slices = { .n = 0 };

  for (unsigned bit = 0; bit < SIGNATURE_BITS; bit++)
    if ((signature->bits[bit / 64] >> (bit % 64) & 1) != 0)
      bits[slices.n++] = (uint8_t) bit;
  g_qsort_with_data (bits, (int) slices.n, sizeof *bits, compare_slices, (void *) index);
  for (uint32_t i = 0; i < slices.n; i++)
    slices.slice[i] = index->slices + bits[i] * index->slice_size;
  return slices;
}

static int
compare_lists (const void *left, const void *right, void *data)
{
  const TextIndex *index = data;
  const uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
  const size_t n_a = index->list[a + 1] - index->list[a];
  const size_t n_b = index->list[b + 1] - index->list[b];

  return n_a < n_b ? -1 : n_a > n_b;
}

/* Whether the list has the block, from `*at` on, which goes along. */
static bool
list_has (const TextIndex *index, uint32_t list, size_t *at, uint16_t block)
{
  size_t end = index->list[list + 1];
  size_t step = 1;

  while (*at + step < end && index->blocks[*at + step] < block)
    {
      *at += step;
      step *= 2;
    }
  end = MIN (end, *at + step + 1);
  while (*at < end && index->blocks[*at] < block)
    {
      size_t middle = *at + (end - *at) / 2;

      if (index->blocks[middle] < block)
        *at = middle + 1;
      else
        end = middle;
    }
  return *at < index->list[list + 1] && index->blocks[*at] == block;
}

static void
search_text (Question *question, Candidate candidate)
{
  const TextIndex *index = question->index;
  const uint64_t begin = index->begin[candidate.text];
  TextMatch match = { candidate.text, TEXT_DOES_NOT_FIT };

  match.fit = sysprof_text_query_fit_folded (
      question->query, index->folded + begin,
      (size_t) (index->begin[candidate.text + 1] - begin - 1),
      sysprof_block_words (index, candidate.block),
      (size_t) (begin - index->begin[index->first_text[candidate.block]]));
  if (match.fit == question->fit)
    g_array_append_val (question->matches, match);
  else if (match.fit == TEXT_DOES_NOT_FIT)
    {
      if (question->misfits == NULL)
        question->misfits = g_new0 (uint64_t, index->slice_size);
      question->misfits[candidate.text / 64] |= UINT64_C (1) << (candidate.text % 64);
    }
}

static void
search_candidates (Question *question)
{
  const TextIndex *index = question->index;

  for (uint32_t i = 0; i < question->n_candidates; i++)
    __builtin_prefetch (index->folded + index->begin[question->candidates[i].text]);
  for (uint32_t i = 0; i < question->n_candidates && question->matches->len < question->limit;
       i++)
    search_text (question, question->candidates[i]);
  question->n_candidates = 0;
  question->n_together = MIN (question->n_together * 2, MOST_TOGETHER);
}

static void
add_candidate (Question *question, Candidate candidate)
{
  __builtin_prefetch (&question->index->begin[candidate.text]);
  question->candidates[question->n_candidates++] = candidate;
  if (question->n_candidates == question->n_together)
    search_candidates (question);
}

/* Those of 64 texts that have all bits. */
static inline uint64_t
texts_of_word (const Question *question, const Slices *slices, uint32_t word)
{
  uint64_t texts = ~UINT64_C (0);
  uint32_t i = 0;

  /* Whether any are left is no longer a guess behind the rarest. */
  for (; i < MIN (slices->n, 4); i++)
    texts &= slices->slice[i][word];
  for (; i < slices->n && texts != 0; i++)
    texts &= slices->slice[i][word];
  return question->misfits != NULL ? texts & ~question->misfits[word] : texts;
}

static void
search_block (Question *question, const Slices *slices, uint32_t block)
{
  const uint32_t first = question->index->first_text[block];
  const uint32_t last = question->index->first_text[block + 1] - 1;

  for (uint32_t word = first / 64; word <= last / 64; word++)
    {
      uint64_t texts = texts_of_word (question, slices, word);

      if (word == first / 64)
        texts &= ~UINT64_C (0) << (first % 64);
      if (word == last / 64)
        texts &= ~UINT64_C (0) >> (63 - last % 64);
      for (; texts != 0 && question->matches->len < question->limit; texts &= texts - 1)
        add_candidate (question,
                       (Candidate){ word * 64 + (uint32_t) __builtin_ctzll (texts), block });
    }
}

static void
search_fit (Question *question, GCancellable *cancellable)
{
  const TextIndex *index = question->index;
  Grams grams = { .n = 0 };
  Slices slices;
  size_t at[MOST_GRAMS];

  add_grams (&grams, question->query, question->fit);
  slices = slices_of (index, &grams.signature);
  g_qsort_with_data (grams.lists, (int) grams.n, sizeof *grams.lists, compare_lists,
                     (void *) index);
  for (uint32_t i = 0; i < grams.n; i++)
    at[i] = index->list[grams.lists[i]];

  for (; at[0] < index->list[grams.lists[0] + 1]; at[0]++)
    {
      const uint16_t block = index->blocks[at[0]];
      uint32_t i = 1;

      if (question->matches->len >= question->limit || g_cancellable_is_cancelled (cancellable))
        break;
      while (i < grams.n && list_has (index, grams.lists[i], &at[i], block))
        i++;
      if (i == grams.n)
        search_block (question, &slices, block);
    }
  search_candidates (question);
}

TextMatch *
sysprof_text_index_find (const TextIndex *self,
                         const TextQuery *query,
                         uint32_t limit,
                         uint32_t *n_matches,
                         GCancellable *cancellable)
{
  Question question = { .index = self,
                        .query = query,
                        .limit = limit,
                        .matches = g_array_new (false, false, sizeof (TextMatch)) };

  for (unsigned fit = 0; fit < N_TEXT_FITS && query->n_terms > 0; fit++)
    {
      question.fit = (TextFit) fit;
      question.n_together = 1;
      search_fit (&question, cancellable);
    }
  g_free (question.misfits);
  *n_matches = question.matches->len;
  return (TextMatch *) (void *) g_array_free (question.matches, false);
}
