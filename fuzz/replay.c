// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs a harness without libFuzzer: over its seeds as they are, then over random changes to them. The random
 * numbers are ours and begin with a number that can be given, so that a failure repeats.
 *
 *   replay-NAME CHANGES SEED-DIRECTORY [FIRST-NUMBER]
 *
 * Without CHECK_ALL in the environment, which `make check-all` sets, it makes a third of the changes.
 *
 * Before each input is run it is kept in memory only; to see it, give FUZZ_KEEP=FILE in the environment. */

#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SEED (1024 * 1024)

static uint64_t random_state;

static uint64_t
next_random (void)
{
  /* splitmix64 */
  uint64_t z = (random_state += 0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static size_t
random_below (size_t n)
{
  return n == 0 ? 0 : (size_t) (next_random () % n);
}

/* Headers are at the beginning and tables at the end; changed bytes there are parsed. */
static size_t
random_place (size_t size)
{
  size_t edge = size < 1024 ? size : 1024;

  switch (random_below (3))
    {
    case 0:
      return random_below (edge);
    case 1:
      return size - 1 - random_below (edge);
    default:
      return random_below (size);
    }
}

static size_t
change (uint8_t *bytes, size_t size)
{
  static const uint64_t edges[] = {
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0xffff,
    0x10000,
    0x7fffffff,
    0xffffffff,
    0x7fffffffffffffff,
    UINT64_MAX - 7,
    UINT64_MAX,
  };
  size_t n = 1 + random_below (6);

  for (size_t i = 0; i < n && size > 16; i++)
    {
      size_t place = random_place (size);
      size_t width = (size_t) 1 << random_below (4);
      uint64_t value = edges[random_below (sizeof edges / sizeof edges[0])];

      switch (random_below (8))
        {
        case 0:
          size = 1 + random_below (size);
          break;
        case 1:
        case 2:
          if (width > size - place)
            width = size - place;
          memcpy (bytes + place, &value, width);
          break;
        case 3:
          {
            size_t from = random_below (size);
            size_t length = random_below (64);

            if (length > size - from)
              length = size - from;
            if (length > size - place)
              length = size - place;
            memmove (bytes + place, bytes + from, length);
          }
          break;
        case 4:
          bytes[place] = (uint8_t) (bytes[place] + 1 - 2 * random_below (2));
          break;
        default:
          bytes[place] ^= (uint8_t) (1 << random_below (8));
        }
    }

  return size;
}

static void
run (const uint8_t *bytes, size_t size)
{
  const char *keep = getenv ("FUZZ_KEEP");
  uint8_t *exact = malloc (size == 0 ? 1 : size); /* so that the sanitizer sees its end */

  if (exact == NULL)
    abort ();
  memcpy (exact, bytes, size);

  if (keep != NULL)
    {
      FILE *file = fopen (keep, "wb");

      if (file == NULL || fwrite (exact, 1, size, file) != size || fclose (file) != 0)
        abort ();
    }

  LLVMFuzzerTestOneInput (exact, size);
  free (exact);
}

static int
replay (const char *path, unsigned long n_changes)
{
  static uint8_t seed[MAX_SEED], bytes[MAX_SEED];
  FILE *file = fopen (path, "rb");
  size_t size;

  if (file == NULL)
    return 0;
  size = fread (seed, 1, sizeof seed, file);
  fclose (file);

  run (seed, size);
  for (unsigned long i = 0; i < n_changes && size > 0; i++)
    {
      memcpy (bytes, seed, size);
      run (bytes, change (bytes, size));
    }
  return 1;
}

int
main (int argc, char **argv)
{
  unsigned long n_changes;
  struct dirent **names;
  int n_names, n_seeds = 0;

  if (argc < 3)
    return 2;
  n_changes = strtoul (argv[1], NULL, 10);
  if (getenv ("CHECK_ALL") == NULL)
    n_changes = (n_changes + 2) / 3;
  random_state = argc > 3 ? strtoull (argv[3], NULL, 10) : 1;
  printf ("%s: %lu changes of each seed, from number %llu\n", argv[0], n_changes,
          (unsigned long long) random_state);

  n_names = scandir (argv[2], &names, NULL, alphasort);
  for (int i = 0; i < n_names; i++)
    {
      char path[4096];

      if (names[i]->d_name[0] != '.' && strcmp (names[i]->d_name, "README.md") != 0 &&
          snprintf (path, sizeof path, "%s/%s", argv[2], names[i]->d_name) < (int) sizeof path)
        n_seeds += replay (path, n_changes);
      free (names[i]);
    }
  if (n_names >= 0)
    free (names);

  if (n_seeds == 0)
    {
      fprintf (stderr, "No seed in '%s'.\n", argv[2]);
      return 1;
    }
  return 0;
}
