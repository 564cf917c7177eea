// SPDX-License-Identifier: GPL-3.0-or-later

/* Times that count for one process or one CPU only: marks that select samples. */

#include "analyze/selection/selection.h"

static bool
is_behind (const OwnedSpan *span, int64_t time, int32_t pid, int32_t cpu)
{
  if (span->pid != pid)
    return span->pid > pid;
  if (span->cpu != cpu)
    return span->cpu > cpu;
  return span->time.end > time;
}

static bool
contain_for (const OwnedSpan *spans, uint32_t n, int64_t time, int32_t pid, int32_t cpu)
{
  uint32_t low = 0, high = n;

  /* The first span of that owner that ends after `time`. */
  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (is_behind (&spans[middle], time, pid, cpu))
        high = middle;
      else
        low = middle + 1;
    }
  return low < n && spans[low].pid == pid && spans[low].cpu == cpu &&
         spans[low].time.begin <= time;
}

bool
sysprof_owned_spans_contain (const OwnedSpan *spans,
                             uint32_t n,
                             int64_t time,
                             int32_t pid,
                             int32_t cpu)
{
  return contain_for (spans, n, time, -1, -1) ||
         (pid >= 0 && contain_for (spans, n, time, pid, -1)) ||
         (cpu >= 0 && contain_for (spans, n, time, -1, cpu));
}
