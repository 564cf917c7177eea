// SPDX-License-Identifier: GPL-3.0-or-later

/* The clock of a recording: all times are ns of CLOCK_MONOTONIC. */

#pragma once

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  INT64_C (1000000000)
#define NSEC_PER_MSEC INT64_C (1000000)

static inline int64_t
sysprof_clock_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}
