// SPDX-License-Identifier: GPL-3.0-or-later

/* Searches for bytes that look like a call or a lea, without decoding the instructions before
 * them. Of four random bytes, only about one in a million is a distance into a gap. */

#include "unwind/call-targets.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TEXTS  64
#define MOST_BYTES  (UINT64_C (64) << 20) /* that are searched per file */
#define MOST_CALLED 65536
#define CHUNK       (UINT64_C (1) << 20) /* bytes that are searched at once */
#define OVERLAP     8

#define CALL           0xe8 /* call: distance */
#define JUMP           0xe9 /* the same: a tail call */
#define LEA            0x8d /* after REX.W: lea distance(%rip), … */
#define FUNCTION_ALIGN 16

typedef struct
{
  const ElfCode *gap; /* [n_gaps] */
  size_t n_gaps;
  uint64_t left;    /* bytes that may still be searched */
  uint64_t *target; /* [capacity] */
  size_t n;
  size_t capacity;
} CallTargets;

static bool
is_in_gap (const CallTargets *self, uint64_t address)
{
  size_t low = 0;

  for (size_t high = self->n_gaps; low < high;)
    {
      size_t middle = low + (high - low) / 2;

      if (self->gap[middle].end <= address)
        low = middle + 1;
      else
        high = middle;
    }
  return low < self->n_gaps && self->gap[low].start <= address;
}

static void
add (CallTargets *self, uint64_t address)
{
  if (!is_in_gap (self, address) || self->n == MOST_CALLED)
    return;
  if (self->n == self->capacity)
    {
      size_t capacity = self->capacity * 2 + 64;
      uint64_t *larger = realloc (self->target, capacity * sizeof *larger);

      if (larger == NULL)
        return;
      self->target = larger;
      self->capacity = capacity;
    }
  self->target[self->n++] = address;
}

static uint64_t
add_distance (uint64_t from, const uint8_t *bytes)
{
  int32_t distance;

  memcpy (&distance, bytes, sizeof distance);
  return from + sizeof distance + (uint64_t) (int64_t) distance;
}

static void
search_distances (CallTargets *self,
                  const uint8_t *bytes,
                  size_t size,
                  uint64_t address,
                  uint8_t opcode)
{
  const uint8_t *end = bytes + size;

  for (const uint8_t *at = bytes; (at = memchr (at, opcode, (size_t) (end - at))) != NULL; at++)
    if (end - at >= 5)
      add (self, add_distance (address + (uint64_t) (at + 1 - bytes), at + 1));
}

static void
search_addresses (CallTargets *self, const uint8_t *bytes, size_t size, uint64_t address)
{
  const uint8_t *end = bytes + size;

  for (const uint8_t *at = bytes + 1;
       at < end && (at = memchr (at, LEA, (size_t) (end - at))) != NULL; at++)
    if (end - at >= 6 && (at[-1] & 0xf8) == 0x48 && (at[1] & 0xc7) == 0x05)
      {
        uint64_t target = add_distance (address + (uint64_t) (at + 2 - bytes), at + 2);

        if (target % FUNCTION_ALIGN == 0)
          add (self, target);
      }
}

/* FALSE: the limit is reached, or the code cannot be read. */
static bool
search (CallTargets *self, ElfImage *image, uint64_t start, uint64_t end)
{
  while (start < end)
    {
      uint64_t until = end - start < CHUNK ? end : start + CHUNK;
      size_t size = (size_t) (until - start);
      uint8_t *bytes;

      if (size > self->left ||
          sysprof_elf_image_read_code (image, start, until, &bytes) != ELF_OK)
        return false;
      self->left -= size;
      search_distances (self, bytes, size, start, CALL);
      search_distances (self, bytes, size, start, JUMP);
      search_addresses (self, bytes, size, start);
      free (bytes);
      start = until == end ? end : until - OVERLAP;
    }
  return true;
}

static int
compare_addresses (const void *a, const void *b)
{
  const uint64_t *left = a, *right = b;

  return *left < *right ? -1 : *left > *right;
}

static size_t
sort_and_merge (uint64_t *target, size_t n)
{
  size_t n_different = 0;

  if (n == 0)
    return 0;
  qsort (target, n, sizeof *target, compare_addresses);
  for (size_t i = 0; i < n; i++)
    if (n_different == 0 || target[n_different - 1] != target[i])
      target[n_different++] = target[i];
  return n_different;
}

uint64_t *
sysprof_call_targets_find (ElfImage *image, const ElfCode *gaps, size_t n_gaps, size_t *n)
{
  CallTargets self = { .gap = gaps, .n_gaps = n_gaps, .left = MOST_BYTES };
  ElfCode text[MOST_TEXTS];
  size_t n_texts = sysprof_elf_image_text (image, text, MOST_TEXTS);
  bool go_on = n_gaps > 0;
  size_t next = 0;

  for (size_t i = 0; i < n_texts && go_on; i++)
    {
      uint64_t at = text[i].start;

      for (; next < n_gaps && gaps[next].start < text[i].end && go_on; next++)
        {
          go_on = search (&self, image, at, gaps[next].start);
          at = gaps[next].end;
        }
      go_on = go_on && search (&self, image, at, text[i].end);
    }
  *n = sort_and_merge (self.target, self.n);
  return self.target;
}
