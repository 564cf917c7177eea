// SPDX-License-Identifier: GPL-3.0-or-later

/* A second unit that inlines the same functions: dwz and link-time optimization share what it
 * says with the first. */

#include "inlines.h"

extern volatile int sink;
int other_unit (int x);

static inline int
shared (int x)
{
  return header_middle (x) ^ header_leaf (x);
}

int
other_unit (int x)
{
  sink = shared (x);
  return shared (x + 5);
}
