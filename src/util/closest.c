// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the word that a misspelled word resembles most. */

#include "util/closest.h"

#include <glib.h>
#include <string.h>

#define LONGEST          64 /* bytes; longer words are not mistyped by hand */
#define LETTERS_PER_SLIP 3  /* one error is tolerated for this many letters */

Closest
sysprof_closest_to (const char *wanted)
{
  size_t size = strlen (wanted);
  size_t slips = size <= LONGEST ? MAX (size / LETTERS_PER_SLIP, size > 1) : 0;

  return (Closest){ .wanted = wanted, .size = size, .distance = size > 0 ? slips + 1 : 0 };
}

static unsigned char
letter (const char *word, size_t at)
{
  return (unsigned char) g_ascii_tolower (word[at]);
}

/* The number of letters to replace, delete, insert, or swap with the next one
 * (Damerau-Levenshtein). Three rows of the table are enough. */
static size_t
distance_of (const char *a, size_t a_size, const char *b, size_t b_size)
{
  size_t rows[3][LONGEST + 1];
  size_t *before = rows[0], *last = rows[1], *here = rows[2];

  for (size_t j = 0; j <= b_size; j++)
    last[j] = j;
  for (size_t i = 1; i <= a_size; i++)
    {
      size_t *reused = before;

      here[0] = i;
      for (size_t j = 1; j <= b_size; j++)
        {
          size_t changed = last[j - 1] + (letter (a, i - 1) != letter (b, j - 1));

          here[j] = MIN (changed, MIN (last[j], here[j - 1]) + 1);
          if (i > 1 && j > 1 && letter (a, i - 1) == letter (b, j - 2) &&
              letter (a, i - 2) == letter (b, j - 1))
            here[j] = MIN (here[j], before[j - 2] + 1);
        }
      before = last;
      last = here;
      here = reused;
    }
  return last[b_size];
}

void
sysprof_closest_offer (Closest *self, const char *word, size_t word_size, const char *name)
{
  size_t difference = word_size > self->size ? word_size - self->size : self->size - word_size;
  size_t distance;

  if (word_size > LONGEST || difference >= self->distance)
    return;
  distance = distance_of (self->wanted, self->size, word, word_size);
  if (distance < self->distance)
    {
      self->distance = distance;
      self->best = name;
    }
}
