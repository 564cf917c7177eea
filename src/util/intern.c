// SPDX-License-Identifier: GPL-3.0-or-later

/* A hash table from strings to small numbers and back. */

#include "util/intern.h"

#include <glib.h>
#include <string.h>

#define FIRST_SLOTS 256

static uint32_t
hash_bytes (const char *bytes, size_t size)
{
  uint64_t hash = 0xcbf29ce484222325 ^ size;
  uint64_t word = 0;

  /* Eight bytes per step, because each step waits for the multiplication of the previous
   * one. */
  for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word)
    {
      memcpy (&word, bytes, sizeof word);
      hash = (hash ^ word) * 0xff51afd7ed558ccd;
      hash ^= hash >> 32;
    }
  word = 0;
  if (size > 0)
    memcpy (&word, bytes, size);
  hash = (hash ^ word) * 0xff51afd7ed558ccd;

  return (uint32_t) (hash ^ (hash >> 32));
}

static uint32_t *
find_slot (const Intern *self, const char *bytes, size_t size, uint32_t hash)
{
  uint32_t mask = self->n_slots - 1;

  for (uint32_t at = hash & mask;; at = (at + 1) & mask)
    {
      uint32_t id = self->slots[at];

      if (id == 0)
        return &self->slots[at];

      id--;
      if (self->hashes[id] == hash && self->lengths[id] == size &&
          memcmp (self->strings[id], bytes, size) == 0)
        return &self->slots[at];
    }
}

static void
grow_slots (Intern *self)
{
  uint32_t mask;

  g_free (self->slots);
  self->n_slots *= 2;
  self->slots = g_new0 (uint32_t, self->n_slots);
  mask = self->n_slots - 1;

  for (uint32_t id = 0; id < self->n_strings; id++)
    {
      uint32_t at = self->hashes[id] & mask;

      while (self->slots[at] != 0)
        at = (at + 1) & mask;
      self->slots[at] = id + 1;
    }
}

StringId
sysprof_intern_bytes (Intern *self, const char *bytes, size_t size)
{
  uint32_t hash = hash_bytes (bytes, size);
  uint32_t *slot = find_slot (self, bytes, size, hash);
  StringId id;

  if (*slot != 0)
    return *slot - 1;

  if (self->n_strings == self->capacity)
    {
      self->capacity *= 2;
      self->strings = g_renew (const char *, self->strings, self->capacity);
      self->lengths = g_renew (uint32_t, self->lengths, self->capacity);
      self->hashes = g_renew (uint32_t, self->hashes, self->capacity);
    }

  id = self->n_strings++;
  self->strings[id] = sysprof_arena_strndup (&self->arena, bytes, size);
  self->lengths[id] = (uint32_t) size;
  self->hashes[id] = hash;
  *slot = id + 1;

  if (self->n_strings * 2 > self->n_slots)
    grow_slots (self);

  return id;
}

StringId
sysprof_intern_string (Intern *self, const char *string)
{
  return sysprof_intern_bytes (self, string, strlen (string));
}

StringId
sysprof_intern_lookup (const Intern *self, const char *string)
{
  size_t size = strlen (string);
  uint32_t slot = *find_slot (self, string, size, hash_bytes (string, size));

  return slot == 0 ? 0 : slot - 1;
}

void
sysprof_intern_init (Intern *self)
{
  *self = (Intern){ .capacity = 64, .n_slots = FIRST_SLOTS };
  self->strings = g_new (const char *, self->capacity);
  self->lengths = g_new (uint32_t, self->capacity);
  self->hashes = g_new (uint32_t, self->capacity);
  self->slots = g_new0 (uint32_t, self->n_slots);
  sysprof_intern_bytes (self, "", 0);
}

void
sysprof_intern_clear (Intern *self)
{
  g_free (self->strings);
  g_free (self->lengths);
  g_free (self->hashes);
  g_free (self->slots);
  sysprof_arena_clear (&self->arena);
  *self = (Intern){ 0 };
}
