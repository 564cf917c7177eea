// SPDX-License-Identifier: GPL-3.0-or-later

/* Sets are made of lists, and made lists again. */

#include "util/index-set-parts.h"

#include <string.h>

/* *Guarded*: written by tests, before there are threads. */
static bool use_portable;

const IndexKernels *
sysprof_index_set_kernels (void)
{
  return use_portable ? &sysprof_index_kernels_portable : sysprof_index_kernels ();
}

void
sysprof_index_set_use_portable (bool use)
{
  use_portable = use;
}

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

/* --- making --- */

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

/* Of the indices of one key, `n_gaps` of which do not follow the one before. */
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

/* How many of the indices, if they are ascending, have the key of the first. */
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
  /* Chunks are at most as many as keys from the first to the last, if they are ascending. */
  const uint32_t n_keys = n == 0 || index[n - 1] < index[0]
                              ? 0
                              : MIN ((index[n - 1] >> 16) - (index[0] >> 16) + 1, n);
  g_autoptr (IndexSet) self = sysprof_index_set_new_with_room (
      n_keys, MIN ((size_t) n_keys * (INDEX_CHUNK_WORDS + INDEX_SLACK),
                   words_of_numbers (n) + (size_t) n_keys * (words_of_numbers (0) + 1)));

  for (uint32_t i = 0; i < n;)
    {
      const uint32_t n_of_key = n_of_first_key (index + i, n - i);
      uint32_t n_gaps;

      if (!sysprof_index_set_kernels ()->is_ascending (index + i, n_of_key, &n_gaps) ||
          (i > 0 && index[i] <= index[i - 1]) || self->n_chunks == n_keys)
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

size_t
sysprof_index_set_memory (const IndexSet *self)
{
  return sizeof *self + self->n_chunks * sizeof *self->chunks +
         self->n_words_of_room * sizeof *self->words;
}

/* --- listing --- */

size_t
sysprof_index_set_room (const IndexSet *self)
{
  return (size_t) self->n + INDEX_SLACK;
}

void
sysprof_index_set_list (const IndexSet *self, uint32_t *index)
{
  for (uint32_t i = 0; i < self->n_chunks; i++)
    {
      const Chunk *chunk = &self->chunks[i];
      const uint32_t base = (uint32_t) chunk->key << 16;
      const Run *run = runs_of (self, chunk);
      uint32_t *to = index;

      index += chunk->n;
      switch ((ChunkKind) chunk->kind)
        {
        case CHUNK_NUMBERS:
          sysprof_index_set_kernels ()->widen (numbers_of (self, chunk), chunk->n, base, to);
          break;
        case CHUNK_RUNS:
          for (uint32_t nth = 0; nth < chunk->n_runs; nth++)
            {
              const uint32_t n = (uint32_t) run[nth].last - run[nth].first + 1;

              sysprof_index_set_kernels ()->count_up (base + run[nth].first, n, to);
              to += n;
            }
          break;
        case CHUNK_BITS:
        default:
          sysprof_index_set_kernels ()->list_bits (self->words + chunk->at, base, to);
          break;
        }
    }
}
