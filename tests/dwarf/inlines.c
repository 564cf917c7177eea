// SPDX-License-Identifier: GPL-3.0-or-later

/* A program to be looked up: stacks of inlined functions, a cold part, a nested block, two
 * calls of one function. */

#include "inlines.h"

volatile int sink;
extern int other_unit (int x);

static inline __attribute__ ((always_inline)) int
deep (int x)
{
  int y = header_middle (x) + 1;

  {
    int z = header_leaf (y);

    sink = z;
  }
  return y * 3;
}

static inline __attribute__ ((always_inline)) int
deeper (int x)
{
  return deep (x) + /* two lines, so that the calls differ */
         deep (x + 1);
}

static __attribute__ ((noinline, cold, noreturn)) void
fail (int x)
{
  for (;;)
    sink = x;
}

__attribute__ ((noinline)) int
work (int x)
{
  if (x > 1000)
    {
      sink = deeper (x);
      fail (x);
    }
  return deeper (x) + header_leaf (x);
}

#line 700 "elsewhere/generated.y"
__attribute__ ((noinline)) int
from_generated (int x)
{
  return header_middle (x);
}

int
main (int argc, char **argv)
{
  (void) argv;
  return work (argc) + from_generated (argc) + other_unit (argc);
}
