// SPDX-License-Identifier: GPL-3.0-or-later

/* short-life: computes for 0.2 s of CPU time, 20 calls deep, and exits. Without frame pointers: only its unwind table leads to main. */

#include <time.h>

#define LIFE_NSEC 200000000
#define DEPTH     20

static volatile unsigned sum;

__attribute__ ((noinline)) static unsigned
work (unsigned depth)
{
  unsigned result = depth == 0 ? 1 : work (depth - 1) + depth;

  for (unsigned i = 0; i < 200; i++)
    sum += i * result;
  return result + sum;
}

int
main (void)
{
  struct timespec used;

  do
    {
      for (unsigned i = 0; i < 100; i++)
        sum += work (DEPTH);
      clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &used);
    }
  while (used.tv_sec == 0 && used.tv_nsec < LIFE_NSEC);
  return 0;
}
