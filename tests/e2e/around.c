// SPDX-License-Identifier: GPL-3.0-or-later

/* A program that computes where only a debug file says how to leave a function. */

#include <stddef.h>

void around (size_t size, void (*func) (void));

static volatile unsigned long n_rounds;

static void
compute (void)
{
  for (;;)
    n_rounds++;
}

int
main (void)
{
  around (4096, compute);
  return 0;
}
