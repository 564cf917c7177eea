// SPDX-License-Identifier: BSD-2-Clause

/* Chooses the clock of all timestamps: the first of a list that the system has. */

#include <sysprof-clock.h>

SysprofClock sysprof_clock = -1;

void
sysprof_clock_init (void)
{
  static const SysprofClock clocks[] = {
    CLOCK_MONOTONIC,
    CLOCK_MONOTONIC_RAW,
    CLOCK_MONOTONIC_COARSE,
    CLOCK_REALTIME,
  };
  struct timespec now;

  /* Threads that get here at once choose the same clock. */
  if (__atomic_load_n (&sysprof_clock, __ATOMIC_RELAXED) != -1)
    return;

  for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
    if (clock_gettime (clocks[i], &now) == 0)
      {
        __atomic_store_n (&sysprof_clock, clocks[i], __ATOMIC_RELAXED);
        return;
      }
}
