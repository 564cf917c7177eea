// SPDX-License-Identifier: GPL-3.0-or-later

/* Memory that is freed all at once. *Owned* by one thread while it grows. */

#pragma once

#include <stddef.h>

typedef struct
{
  struct ArenaChunk *last;
  size_t used; /* bytes of the last chunk */
} Arena;

/* Memory aligned to 8, not cleared, valid until sysprof_arena_clear(). A zeroed arena is
 * empty. */
void *sysprof_arena_alloc (Arena *self, size_t size);

/* A copy of `size` bytes, terminated with NUL. */
char *sysprof_arena_strndup (Arena *self, const char *bytes, size_t size);

void sysprof_arena_clear (Arena *self);
