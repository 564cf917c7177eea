// SPDX-License-Identifier: GPL-3.0-or-later

/* A program with nothing but the module in it: prints the addresses of its own stack. */

#include "backtrace/backtrace.h"

#include <inttypes.h>
#include <stdio.h>

#define MOST 64

int
main (void)
{
  uint64_t address[MOST];
  size_t n;

  if (!sysprof_backtrace_update ())
    return 1;

  n = sysprof_backtrace (address, MOST);
  for (size_t i = 0; i < n; i++)
    printf ("%" PRIx64 "\n", address[i]);
  return n < 2;
}
