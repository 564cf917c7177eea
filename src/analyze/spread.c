// SPDX-License-Identifier: GPL-3.0-or-later

#include "analyze/analyze.h"

#include <stdlib.h>

static int
compare_numbers (const void *a, const void *b)
{
  int64_t left = *(const int64_t *) a;
  int64_t right = *(const int64_t *) b;

  return (left > right) - (left < right);
}

static int64_t
percentile (const int64_t *sorted, size_t n, unsigned percent)
{
  size_t rank = (size_t) (((__uint128_t) n * percent + 99) / 100);

  return sorted[rank > 0 ? rank - 1 : 0];
}

Spread
sysprof_spread_of (int64_t *values, size_t n)
{
  Spread spread = { .n = n };

  if (n == 0)
    return spread;

  qsort (values, n, sizeof *values, compare_numbers);
  for (size_t i = 0; i < n; i++)
    spread.sum += values[i];
  spread.min = values[0];
  spread.max = values[n - 1];
  spread.mean = (int64_t) (spread.sum / (__int128) n);
  spread.median = (int64_t) (((__int128) values[(n - 1) / 2] + values[n / 2]) / 2);
  spread.p95 = percentile (values, n, 95);
  spread.p99 = percentile (values, n, 99);
  return spread;
}
