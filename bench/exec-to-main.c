// SPDX-License-Identifier: GPL-3.0-or-later

/* How long it takes from exec to main.
 *
 *   exec-to-main TIMES
 *
 * Starts itself so often, one after another; each says how many nanoseconds ago it was started. Prints these, one a line. */

#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C (1000000000) + t.tv_nsec;
}

int
main (int argc, char **argv)
{
  int64_t here = now ();

  if (argc == 3)
    {
      printf ("%" PRId64 "\n", here - (int64_t) strtoll (argv[2], NULL, 10));
      return 0;
    }
  if (argc != 2)
    {
      fprintf (stderr, "usage: exec-to-main TIMES\n");
      return 2;
    }

  for (long i = strtol (argv[1], NULL, 10); i > 0; i--)
    {
      pid_t child = vfork ();

      if (child == 0)
        {
          static char when[32];
          char *arguments[] = { argv[0], "started", when, NULL };

          snprintf (when, sizeof when, "%" PRId64, now ());
          execv ("/proc/self/exe", arguments);
          _exit (1);
        }
      if (child < 0 || waitpid (child, NULL, 0) != child)
        return 1;
    }
  return 0;
}
