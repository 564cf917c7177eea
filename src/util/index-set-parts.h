// SPDX-License-Identifier: GPL-3.0-or-later

/* The representation of an IndexSet, shared by the two files that make sets. */

#pragma once

#include "util/index-set.h"

enum
{
  INDEX_CHUNK_SIZE = 65536, /* indices that share their upper 16 bits */
  INDEX_CHUNK_WORDS = INDEX_CHUNK_SIZE / 64,
};

typedef enum
{
  CHUNK_NUMBERS, /* [n] uint16_t, ascending */
  CHUNK_BITS,    /* [INDEX_CHUNK_WORDS] uint64_t */
  CHUNK_RUNS,    /* [n_runs] Run, ascending, never adjacent */
} ChunkKind;

typedef struct
{
  uint16_t first;
  uint16_t last; /* inclusive */
} Run;

typedef struct
{
  size_t at;       /* index into IndexSet.words */
  uint32_t n;      /* members, never 0 */
  uint32_t n_runs; /* of CHUNK_RUNS */
  uint16_t key;    /* the upper 16 bits */
  uint8_t kind;
} Chunk;

struct _IndexSet
{
  Chunk *chunks;   /* [n_chunks] ascending by key */
  uint64_t *words; /* [n_words] contents of the chunks */
  size_t n_words;
  size_t n_words_of_room;
  uint32_t n_chunks;
  uint32_t n; /* members */
};

enum
{
  /* This many numbers need as much memory as the bits. */
  MOST_NUMBERS = INDEX_CHUNK_WORDS * sizeof (uint64_t) / sizeof (uint16_t),
};

static inline size_t
words_of_numbers (uint32_t n)
{
  /* One more: the loops without branches write one number past the last member. */
  return ((n + 1) * sizeof (uint16_t) + sizeof (uint64_t) - 1) / sizeof (uint64_t);
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

/* An empty set with capacity for this many. *(full)* */
IndexSet *sysprof_index_set_new_with_room (size_t n_chunks, size_t n_words);
/* Shrinks the set's memory if more than an eighth of it is unused. */
void sysprof_index_set_give_back_room (IndexSet *self);
