// SPDX-License-Identifier: GPL-3.0-or-later

/* Allocates from a list of chunks that are freed together. */

#include "util/arena.h"

#include <glib.h>
#include <string.h>

/* Bytes. Each chunk is twice as large as the one before: large ones have mappings of their
 * own, which return to the system when they are freed. */
#define FIRST_CHUNK (64 * 1024)
#define LAST_CHUNK  (4 * 1024 * 1024)

struct ArenaChunk
{
  struct ArenaChunk *before;
  size_t size;
  _Alignas(16) char bytes[];
};

void *
sysprof_arena_alloc (Arena *self, size_t size)
{
  size_t needed = (size + 7) & ~(size_t) 7;
  void *result;

  if (self->last == NULL || self->last->size - self->used < needed)
    {
      size_t twice = self->last != NULL ? MIN (self->last->size * 2, LAST_CHUNK) : FIRST_CHUNK;
      size_t chunk_size = MAX (needed, twice);
      struct ArenaChunk *chunk = g_malloc (sizeof *chunk + chunk_size);

      chunk->before = self->last;
      chunk->size = chunk_size;
      self->last = chunk;
      self->used = 0;
    }

  result = self->last->bytes + self->used;
  self->used += needed;
  return result;
}

char *
sysprof_arena_strndup (Arena *self, const char *bytes, size_t size)
{
  char *copy = sysprof_arena_alloc (self, size + 1);

  if (size > 0)
    memcpy (copy, bytes, size);
  copy[size] = '\0';
  return copy;
}

void
sysprof_arena_clear (Arena *self)
{
  while (self->last != NULL)
    {
      struct ArenaChunk *before = self->last->before;

      g_free (self->last);
      self->last = before;
    }

  self->used = 0;
}
