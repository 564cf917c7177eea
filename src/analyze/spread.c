// SPDX-License-Identifier: GPL-3.0-or-later

/* Minimum, median, percentiles and maximum of durations. */

#include "analyze/analyze.h"

static int
compare_numbers (const void *a, const void *b, void *data)
{
  int64_t left = *(const int64_t *) a;
  int64_t right = *(const int64_t *) b;

  return (left > right) - (left < right);
}

static int64_t
percentile (const int64_t *sorted, size_t n, unsigned percent)
{
  size_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;

  return sorted[rank > 0 ? rank - 1 : 0];
}

Spread
sysprof_spread_of (int64_t *values, size_t n)
{
  Spread spread = { .n = n };
  uint64_t rest = 0; /* of the divisions by n; below n each, and there are n: less than 2^64 */

  if (n == 0)
    return spread;

  if (!sysprof_sort_if_wanted (values, n, sizeof *values, compare_numbers, NULL))
    return spread;
  for (size_t i = 0; i < n; i++)
    {
      if (__builtin_add_overflow (spread.sum, values[i], &spread.sum))
        spread.sum = INT64_MAX;
      spread.mean += values[i] / (int64_t) n;
      rest += (uint64_t) values[i] % n;
    }
  spread.min = values[0];
  spread.max = values[n - 1];
  spread.mean += (int64_t) (rest / n);
  spread.median = values[(n - 1) / 2] + (values[n / 2] - values[(n - 1) / 2]) / 2;
  spread.p95 = percentile (values, n, 95);
  spread.p99 = percentile (values, n, 99);
  return spread;
}
