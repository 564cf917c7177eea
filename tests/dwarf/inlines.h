// SPDX-License-Identifier: GPL-3.0-or-later

/* Inlined into both programs: functions whose lines are of another file than their callers'. */

#pragma once

static inline int
header_leaf (int x)
{
  return x * x + 7;
}

static inline int
header_middle (int x)
{
  int sum = 0;

  for (int i = 0; i < x; i++)
    sum += header_leaf (sum ^ i);
  return sum;
}
