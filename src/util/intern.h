// SPDX-License-Identifier: GPL-3.0-or-later

/* Maps strings to numbers and back. Equal strings have equal IDs; ID 0 is the empty string.
 *
 * *Owned* while it is filled, then *frozen*: a lookup by ID never writes. */

#pragma once

#include "util/arena.h"

#include <stddef.h>
#include <stdint.h>

typedef uint32_t StringId;

typedef struct
{
  const char **strings; /* [n_strings] */
  uint32_t *lengths;    /* [n_strings] bytes */
  uint32_t n_strings;
  uint32_t capacity;
  uint32_t *slots;  /* [n_slots] open addressing; id + 1, 0 = free */
  uint32_t *hashes; /* [n_strings] */
  uint32_t n_slots; /* a power of two */
  Arena arena;
} Intern;

void sysprof_intern_init (Intern *self);
void sysprof_intern_clear (Intern *self);

/* The ID of `bytes` (without NUL). Copies new strings. */
StringId sysprof_intern_bytes (Intern *self, const char *bytes, size_t size);
StringId sysprof_intern_string (Intern *self, const char *string);

/* The ID, or 0 if the string was never interned (or is empty). */
StringId sysprof_intern_lookup (const Intern *self, const char *string);

static inline const char *
sysprof_intern_get (const Intern *self, StringId id)
{
  return self->strings[id];
}
