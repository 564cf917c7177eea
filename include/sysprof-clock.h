// SPDX-License-Identifier: BSD-2-Clause

/* The clock of captures: nanoseconds of CLOCK_MONOTONIC, where the system has it. */

#pragma once

#include "sysprof-macros.h"
#include "sysprof-version-macros.h"

#include <time.h>

SYSPROF_BEGIN_DECLS

typedef int SysprofClock;
typedef int64_t SysprofTimeStamp;
typedef int32_t SysprofTimeStampDiff;
typedef SysprofTimeStampDiff SysprofTimeSysprofan; /* the name it had before version 45 */

#define SYSPROF_NSEC_PER_SEC INT64_C (1000000000)

/* The clock id in use; -1 until sysprof_clock_init() chose one, which means CLOCK_MONOTONIC. */
SYSPROF_AVAILABLE_IN_ALL SysprofClock sysprof_clock;

/* Chooses the clock. May be called any number of times, from any thread. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_clock_init (void);

/* Now, in nanoseconds. */
static inline SysprofTimeStamp
sysprof_clock_get_current_time (void)
{
  struct timespec now;
#ifdef __GNUC__
  SysprofClock clock = __atomic_load_n (&sysprof_clock, __ATOMIC_RELAXED);
#else
  SysprofClock clock = sysprof_clock;
#endif

  if (clock == -1)
    clock = CLOCK_MONOTONIC;
  (void) clock_gettime (clock, &now);
  return (SysprofTimeStamp) now.tv_sec * SYSPROF_NSEC_PER_SEC + (SysprofTimeStamp) now.tv_nsec;
}

/* Nanoseconds since `epoch`; wraps after two seconds. */
static inline SysprofTimeStampDiff
sysprof_clock_get_relative_time (SysprofTimeStamp epoch)
{
  return (SysprofTimeStampDiff) (sysprof_clock_get_current_time () - epoch);
}

SYSPROF_END_DECLS
