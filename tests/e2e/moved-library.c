// SPDX-License-Identifier: GPL-3.0-or-later

/* A few functions deep, nothing but computing. */

#include <time.h>

__attribute__ ((visibility ("default"))) int moved_spin (double seconds); /* of CPU time */

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

__attribute__ ((noinline)) static unsigned
compute (unsigned n)
{
  for (volatile unsigned i = 0; i < 100000; i++)
    n = n * 1664525 + i;
  return n;
}

__attribute__ ((noinline)) static unsigned
descend (unsigned depth, double until)
{
  unsigned n = depth;

  if (depth > 0)
    return descend (depth - 1, until) + 1; /* no tail call */
  while (now () < until)
    n += compute (n);
  return n;
}

int
moved_spin (double seconds)
{
  return (int) descend (5, now () + seconds) & 1;
}
