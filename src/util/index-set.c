// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes sets from lists of indices, and lists from sets. */

#include "util/index-set-parts.h"

#include <string.h>

IndexSet *
sysprof_index_set_new_with_room (size_t n_chunks, size_t n_words)
{
  IndexSet *self = g_new0 (IndexSet, 1);

  self->chunks = g_new (Chunk, MAX (n_chunks, 1));
  self->words = g_new (uint64_t, MAX (n_words, 1));
  self->n_words_of_room = n_words;
  return self;
}

void
sysprof_index_set_give_back_room (IndexSet *self)
{
  if (self->n_words >= self->n_words_of_room - self->n_words_of_room / 8)
    return;
  self->words = g_renew (uint64_t, self->words, MAX (self->n_words, 1));
  self->n_words_of_room = self->n_words;
}

/* Whether each of `index` [n] is greater than the one before, and how many are not its
 * successor. */
static bool
is_ascending (const uint32_t *index, uint32_t n, uint32_t *n_gaps)
{
  uint32_t n_falling = 0, n_following = 0;

  for (uint32_t i = 1; i < n; i++)
    {
      n_falling += index[i] <= index[i - 1];
      n_following += index[i] == index[i - 1] + 1;
    }
  *n_gaps = n == 0 ? 0 : n - 1 - n_following;
  return n_falling == 0;
}

static void
fill_runs (const uint32_t *index, uint32_t n, Run *runs)
{
  uint32_t n_runs = 0;

  for (uint32_t i = 0; i < n; i++)
    {
      const uint16_t low = (uint16_t) index[i];

      if (i > 0 && index[i] == index[i - 1] + 1)
        runs[n_runs - 1].last = low;
      else
        runs[n_runs++] = (Run){ low, low };
    }
}

static void
fill_bits (const uint32_t *index, uint32_t n, uint64_t *bits)
{
  memset (bits, 0, INDEX_CHUNK_WORDS * sizeof *bits);
  for (uint32_t i = 0; i < n; i++)
    bits[(uint16_t) index[i] / 64] |= UINT64_C (1) << (index[i] % 64);
}

/* Adds the indices of one key. `n_gaps` of them are not the successor of the index before. */
static void
add_chunk (IndexSet *self, const uint32_t *index, uint32_t n, uint32_t n_gaps)
{
  Chunk chunk = { .at = self->n_words, .n = n, .n_runs = n_gaps + 1 };
  void *to = self->words + self->n_words;

  chunk.key = (uint16_t) (index[0] >> 16);
  if (chunk.n_runs * sizeof (Run) < MIN (n, MOST_NUMBERS) * sizeof (uint16_t))
    {
      chunk.kind = CHUNK_RUNS;
      if (n_gaps == 0)
        *(Run *) to = (Run){ (uint16_t) index[0], (uint16_t) index[n - 1] };
      else
        fill_runs (index, n, to);
    }
  else if (n <= MOST_NUMBERS)
    {
      uint16_t *numbers = to;

      chunk.kind = CHUNK_NUMBERS;
      for (uint32_t i = 0; i < n; i++)
        numbers[i] = (uint16_t) index[i];
    }
  else
    {
      chunk.kind = CHUNK_BITS;
      fill_bits (index, n, to);
    }
  self->n_words += words_of_chunk (&chunk);
  self->n += n;
  self->chunks[self->n_chunks++] = chunk;
}

/* The number of indices with the key of the first. The indices are ascending. */
static uint32_t
n_of_first_key (const uint32_t *index, uint32_t n)
{
  uint32_t low = 0, high = MIN (n, INDEX_CHUNK_SIZE);

  while (high - low > 1)
    {
      const uint32_t middle = low + (high - low) / 2;

      if (index[middle] >> 16 == index[0] >> 16)
        low = middle;
      else
        high = middle;
    }
  return high;
}

IndexSet *
sysprof_index_set_new (const uint32_t *index, uint32_t n)
{
  /* An upper limit for the number of chunks, if the indices are ascending. */
  const uint32_t n_keys = n == 0 || index[n - 1] < index[0]
                              ? 0
                              : MIN ((index[n - 1] >> 16) - (index[0] >> 16) + 1, n);
  g_autoptr (IndexSet) self = sysprof_index_set_new_with_room (
      n_keys, MIN ((size_t) n_keys * (INDEX_CHUNK_WORDS + 1),
                   words_of_numbers (n) + (size_t) n_keys * (words_of_numbers (0) + 1)));

  for (uint32_t i = 0; i < n;)
    {
      const uint32_t n_of_key = n_of_first_key (index + i, n - i);
      uint32_t n_gaps;

      if (!is_ascending (index + i, n_of_key, &n_gaps) || (i > 0 && index[i] <= index[i - 1]) ||
          self->n_chunks == n_keys)
        return NULL;
      add_chunk (self, index + i, n_of_key, n_gaps);
      i += n_of_key;
    }
  sysprof_index_set_give_back_room (self);
  return g_steal_pointer (&self);
}

void
sysprof_index_set_free (IndexSet *self)
{
  if (self == NULL)
    return;
  g_free (self->chunks);
  g_free (self->words);
  g_free (self);
}

uint32_t
sysprof_index_set_size (const IndexSet *self)
{
  return self->n;
}

static uint32_t *
list_bits (const uint64_t *bits, uint32_t base, uint32_t *to)
{
  for (uint32_t i = 0; i < INDEX_CHUNK_WORDS; i++)
    for (uint64_t word = bits[i]; word != 0; word &= word - 1)
      *to++ = base + i * 64 + (uint32_t) __builtin_ctzll (word);
  return to;
}

static uint32_t *
list_runs (const Run *runs, uint32_t n_runs, uint32_t base, uint32_t *to)
{
  for (uint32_t i = 0; i < n_runs; i++)
    for (uint32_t low = runs[i].first; low <= runs[i].last; low++)
      *to++ = base + low;
  return to;
}

void
sysprof_index_set_list (const IndexSet *self, uint32_t *index)
{
  for (uint32_t i = 0; i < self->n_chunks; i++)
    {
      const Chunk *chunk = &self->chunks[i];
      const uint32_t base = (uint32_t) chunk->key << 16;
      const uint16_t *numbers;

      switch ((ChunkKind) chunk->kind)
        {
        case CHUNK_NUMBERS:
          numbers = numbers_of (self, chunk);
          for (uint32_t nth = 0; nth < chunk->n; nth++)
            *index++ = base + numbers[nth];
          break;
        case CHUNK_RUNS:
          index = list_runs (runs_of (self, chunk), chunk->n_runs, base, index);
          break;
        case CHUNK_BITS:
        default:
          index = list_bits (self->words + chunk->at, base, index);
          break;
        }
    }
}
