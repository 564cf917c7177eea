// SPDX-License-Identifier: GPL-3.0-or-later

/* How an IndexSet is kept, for the two files that make some. */

#pragma once

#include "util/index-kernels.h"
#include "util/index-set.h"

typedef enum
{
  CHUNK_NUMBERS, /* [n] uint16_t, ascending */
  CHUNK_BITS,    /* [INDEX_CHUNK_WORDS] uint64_t */
  CHUNK_RUNS,    /* [n_runs] Run, ascending, with something between them */
} ChunkKind;

typedef struct
{
  uint16_t first;
  uint16_t last; /* is one of them */
} Run;

typedef struct
{
  size_t at;       /* in IndexSet.words */
  uint32_t n;      /* members, never 0 */
  uint32_t n_runs; /* of CHUNK_RUNS */
  uint16_t key;    /* the upper 16 bits */
  uint8_t kind;
} Chunk;

struct _IndexSet
{
  Chunk *chunks;   /* [n_chunks] ascending by key */
  uint64_t *words; /* [n_words] what is in the chunks */
  size_t n_words;
  size_t n_words_of_room;
  uint32_t n_chunks;
  uint32_t n; /* members */
};

enum
{
  /* As many numbers take what the bits take. */
  MOST_NUMBERS = INDEX_CHUNK_WORDS * sizeof (uint64_t) / sizeof (uint16_t),
};

static inline size_t
words_of_numbers (uint32_t n)
{
  return ((n + INDEX_SLACK) * sizeof (uint16_t) + sizeof (uint64_t) - 1) / sizeof (uint64_t);
}

static inline size_t
words_of_runs (uint32_t n)
{
  return (n * sizeof (Run) + sizeof (uint64_t) - 1) / sizeof (uint64_t);
}

static inline size_t
words_of_chunk (const Chunk *chunk)
{
  switch ((ChunkKind) chunk->kind)
    {
    case CHUNK_NUMBERS:
      return words_of_numbers (chunk->n);
    case CHUNK_RUNS:
      return words_of_runs (chunk->n_runs);
    case CHUNK_BITS:
    default:
      return INDEX_CHUNK_WORDS;
    }
}

static inline const uint16_t *
numbers_of (const IndexSet *self, const Chunk *chunk)
{
  return (const void *) (self->words + chunk->at);
}

static inline const Run *
runs_of (const IndexSet *self, const Chunk *chunk)
{
  return (const void *) (self->words + chunk->at);
}

const IndexKernels *sysprof_index_set_kernels (void);

/* Empty, with room for so many. *(full)* */
IndexSet *sysprof_index_set_new_with_room (size_t n_chunks, size_t n_words);
/* Where much was not needed. */
void sysprof_index_set_give_back_room (IndexSet *self);
