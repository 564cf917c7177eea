// SPDX-License-Identifier: GPL-3.0-or-later

/* Intersects two sets, chunk by chunk. Each pair of chunk kinds has its own loop. */

#include "util/index-set-parts.h"

#include <string.h>

enum
{
  /* An intersection of bits with more members than this stays bits: converting it to numbers
   * costs more time than a later intersection would save. */
  FEW_OF_BITS = MOST_NUMBERS / 8,
  MUCH_LONGER = 32, /* times */
};

typedef struct
{
  const IndexSet *set;
  const Chunk *chunk;
} Side;

/* The first position, from `at` on, whose number is not below `number`: an exponential search,
 * then a binary search. */
static uint32_t
seek (const uint16_t *numbers, uint32_t n, uint32_t at, uint32_t number)
{
  uint32_t step = 1, high;

  if (at >= n || numbers[at] >= number)
    return at;
  while (step < n - at && numbers[at + step] < number)
    {
      at += step;
      step *= 2;
    }
  high = MIN (at + step, n);
  while (high - at > 1)
    {
      const uint32_t middle = at + (high - at) / 2;

      if (numbers[middle] < number)
        at = middle;
      else
        high = middle;
    }
  return high;
}

/* Which list advances is as good as random, so the loop has no branch on it. */
static uint32_t
merge_numbers (const uint16_t *a, uint32_t n_a, const uint16_t *b, uint32_t n_b, uint16_t *both)
{
  uint32_t i = 0, j = 0, n = 0;

  while (i < n_a && j < n_b)
    {
      const uint16_t left = a[i], right = b[j];

      both[n] = left; /* n ≤ i and n ≤ j: within the capacity */
      n += left == right;
      i += left <= right;
      j += right <= left;
    }
  return n;
}

/* Writes the common bits and returns their number. */
static uint32_t
and_bits (const uint64_t *a, const uint64_t *b, uint64_t *both)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < INDEX_CHUNK_WORDS; i++)
    {
      uint64_t count = both[i] = a[i] & b[i];

      /* Sums of 2, 4 and 8 bits: most x86-64 packages are built without the POPCNT
       * instruction. */
      count -= (count >> 1) & UINT64_C (0x5555555555555555);
      count = (count & UINT64_C (0x3333333333333333)) +
              ((count >> 2) & UINT64_C (0x3333333333333333));
      count = (count + (count >> 4)) & UINT64_C (0x0f0f0f0f0f0f0f0f);
      n += (uint32_t) ((count * UINT64_C (0x0101010101010101)) >> 56);
    }
  return n;
}

static void
intersect_numbers (Side a, Side b, Chunk *both, uint16_t *to)
{
  const Side few = a.chunk->n <= b.chunk->n ? a : b, many = few.chunk == a.chunk ? b : a;
  const uint16_t *short_list = numbers_of (few.set, few.chunk);
  const uint16_t *long_list = numbers_of (many.set, many.chunk);

  both->kind = CHUNK_NUMBERS;
  if (many.chunk->n / MUCH_LONGER < few.chunk->n)
    {
      both->n = merge_numbers (short_list, few.chunk->n, long_list, many.chunk->n, to);
      return;
    }
  for (uint32_t i = 0, j = 0; i < few.chunk->n && j < many.chunk->n; i++)
    {
      j = seek (long_list, many.chunk->n, j, short_list[i]);
      if (j < many.chunk->n && long_list[j] == short_list[i])
        to[both->n++] = short_list[i];
    }
}

static void
intersect_numbers_with_bits (Side numbers, const uint64_t *bits, Chunk *both, uint16_t *to)
{
  const uint16_t *number = numbers_of (numbers.set, numbers.chunk);
  uint32_t n = 0;

  for (uint32_t i = 0; i < numbers.chunk->n; i++)
    {
      to[n] = number[i]; /* n ≤ i: within the capacity */
      n += bits[number[i] / 64] >> (number[i] % 64) & 1;
    }
  both->kind = CHUNK_NUMBERS;
  both->n = n;
}

static void
intersect_numbers_with_runs (Side numbers, Side runs, Chunk *both, uint16_t *to)
{
  const uint16_t *number = numbers_of (numbers.set, numbers.chunk);
  const Run *run = runs_of (runs.set, runs.chunk);
  uint32_t at = 0;

  both->kind = CHUNK_NUMBERS;
  for (uint32_t i = 0; i < runs.chunk->n_runs && at < numbers.chunk->n; i++)
    {
      const uint32_t first = seek (number, numbers.chunk->n, at, run[i].first);

      at = seek (number, numbers.chunk->n, first, (uint32_t) run[i].last + 1);
      memcpy (to + both->n, number + first, (at - first) * sizeof *number);
      both->n += at - first;
    }
}

static void
intersect_runs (Side a, Side b, Chunk *both, Run *to)
{
  const Run *left = runs_of (a.set, a.chunk), *right = runs_of (b.set, b.chunk);
  uint32_t i = 0, j = 0, n = 0, n_runs = 0;

  while (i < a.chunk->n_runs && j < b.chunk->n_runs)
    {
      const Run l = left[i], r = right[j];

      if (l.last < r.first)
        i++;
      else if (r.last < l.first)
        j++;
      else
        {
          const Run run = { MAX (l.first, r.first), MIN (l.last, r.last) };

          to[n_runs++] = run;
          n += (uint32_t) run.last - run.first + 1;
          i += l.last == run.last;
          j += r.last == run.last;
        }
    }
  both->kind = CHUNK_RUNS;
  both->n_runs = n_runs;
  both->n = n;
}

static void
set_bits (uint64_t *bits, Run run)
{
  const uint32_t first = run.first / 64, last = run.last / 64;
  const uint64_t from = ~UINT64_C (0) << (run.first % 64);
  const uint64_t until = ~UINT64_C (0) >> (63 - run.last % 64);

  if (first == last)
    {
      bits[first] |= from & until;
      return;
    }
  bits[first] |= from;
  memset (bits + first + 1, 0xff, (last - first - 1) * sizeof *bits);
  bits[last] |= until;
}

/* Converts bits with few members to numbers. */
static void
end_bits (Chunk *both, uint64_t *bits)
{
  uint16_t number[FEW_OF_BITS];
  uint32_t n = 0;

  both->kind = CHUNK_BITS;
  if (both->n > FEW_OF_BITS)
    return;

  for (uint32_t i = 0; i < INDEX_CHUNK_WORDS; i++)
    for (uint64_t word = bits[i]; word != 0; word &= word - 1)
      number[n++] = (uint16_t) (i * 64 + (uint32_t) __builtin_ctzll (word));
  memcpy (bits, number, n * sizeof *number);
  both->kind = CHUNK_NUMBERS;
}

static void
intersect_bits_with_runs (const uint64_t *bits, Side runs, Chunk *both, uint64_t *to)
{
  const Run *run = runs_of (runs.set, runs.chunk);

  if (runs.chunk->n == INDEX_CHUNK_SIZE)
    {
      memcpy (to, bits, INDEX_CHUNK_WORDS * sizeof *bits);
      both->kind = CHUNK_BITS;
      return;
    }
  memset (to, 0, INDEX_CHUNK_WORDS * sizeof *to);
  for (uint32_t i = 0; i < runs.chunk->n_runs; i++)
    set_bits (to, run[i]);
  both->n = and_bits (bits, to, to);
  end_bits (both, to);
}

static void
intersect_chunks (Side a, Side b, Chunk *both, void *to)
{
  /* Ordered by kind, so that each pair of kinds occurs in one order only. */
  const Side lower = a.chunk->kind <= b.chunk->kind ? a : b;
  const Side upper = lower.chunk == a.chunk ? b : a;
  const uint64_t *lower_words = lower.set->words + lower.chunk->at;
  const uint64_t *upper_words = upper.set->words + upper.chunk->at;

  if (lower.chunk->kind == CHUNK_NUMBERS && upper.chunk->kind == CHUNK_NUMBERS)
    intersect_numbers (lower, upper, both, to);
  else if (lower.chunk->kind == CHUNK_NUMBERS && upper.chunk->kind == CHUNK_BITS)
    intersect_numbers_with_bits (lower, upper_words, both, to);
  else if (lower.chunk->kind == CHUNK_NUMBERS)
    intersect_numbers_with_runs (lower, upper, both, to);
  else if (lower.chunk->kind == CHUNK_RUNS)
    intersect_runs (lower, upper, both, to);
  else if (upper.chunk->kind == CHUNK_RUNS)
    {
      both->n = lower.chunk->n;
      intersect_bits_with_runs (lower_words, upper, both, to);
    }
  else
    {
      both->n = and_bits (lower_words, upper_words, to);
      end_bits (both, to);
    }
}

/* An upper limit for the words of an intersection. */
static size_t
words_of_both (const Chunk *a, const Chunk *b)
{
  if (a->kind == CHUNK_NUMBERS || b->kind == CHUNK_NUMBERS)
    return words_of_numbers (MIN (a->n, b->n));
  if (a->kind == CHUNK_RUNS && b->kind == CHUNK_RUNS)
    return words_of_runs (a->n_runs + b->n_runs);
  return INDEX_CHUNK_WORDS;
}

/* Advances `*i` and `*j` to the next pair of chunks with the same key. */
static bool
next_pair (const IndexSet *a, const IndexSet *b, uint32_t *i, uint32_t *j)
{
  while (*i < a->n_chunks && *j < b->n_chunks)
    {
      const uint16_t left = a->chunks[*i].key, right = b->chunks[*j].key;

      if (left == right)
        return true;
      *i += left < right;
      *j += right < left;
    }
  return false;
}

IndexSet *
sysprof_index_set_intersect (const IndexSet *a, const IndexSet *b)
{
  IndexSet *self;
  size_t n_words = 0;

  for (uint32_t i = 0, j = 0; next_pair (a, b, &i, &j); i++, j++)
    n_words += words_of_both (&a->chunks[i], &b->chunks[j]);

  self = sysprof_index_set_new_with_room (MIN (a->n_chunks, b->n_chunks), n_words);
  for (uint32_t i = 0, j = 0; next_pair (a, b, &i, &j); i++, j++)
    {
      Chunk both = { .at = self->n_words, .key = a->chunks[i].key };

      intersect_chunks ((Side){ a, &a->chunks[i] }, (Side){ b, &b->chunks[j] }, &both,
                        self->words + self->n_words);
      if (both.n == 0)
        continue;
      self->chunks[self->n_chunks++] = both;
      self->n_words += words_of_chunk (&both);
      self->n += both.n;
    }
  sysprof_index_set_give_back_room (self);
  return self;
}
