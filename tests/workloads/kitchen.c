// SPDX-License-Identifier: GPL-3.0-or-later

/* kitchen SECONDS [OLD-ROOT]: what `make demo-container` runs in its container: functions that
 * no other program has.
 *
 * As a container's first process it unmounts the old root. It prints "ready" when it is about
 * to work, and ends by itself, also if the script that started it is gone. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <time.h>

#define ROUNDS 200000

#if __has_attribute(noipa)
#  define OUT_OF_LINE __attribute__ ((noipa))
#else
#  define OUT_OF_LINE __attribute__ ((noinline))
#endif

static volatile uint64_t pot = 1;

static inline __attribute__ ((always_inline)) void
stir (unsigned rounds)
{
  for (unsigned i = 0; i < rounds; i++)
    pot = pot * 6364136223846793005u + 1442695040888963407u;
}

static OUT_OF_LINE void
chop_onions (void)
{
  stir (ROUNDS);
}

static OUT_OF_LINE void
knead_dough (void)
{
  stir (3 * ROUNDS);
}

static OUT_OF_LINE void
bake_bread (void)
{
  knead_dough ();
  stir (2 * ROUNDS);
}

static OUT_OF_LINE void
cook_dinner (void)
{
  chop_onions ();
  bake_bread ();
  pot++; /* keeps this frame: the call above is not the last thing */
}

int
main (int argc, char **argv)
{
  double seconds = argc > 1 ? strtod (argv[1], NULL) : 1;
  time_t end = time (NULL) + (time_t) seconds + 1;

  if (argc > 2 && umount2 (argv[2], MNT_DETACH) != 0)
    {
      perror (argv[2]);
      return EXIT_FAILURE;
    }
  puts ("ready");
  fflush (stdout);
  while (time (NULL) < end)
    cook_dinner ();
  return EXIT_SUCCESS;
}
