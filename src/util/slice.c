// SPDX-License-Identifier: GPL-3.0-or-later

/* Sets the scheduler's time slice of the calling thread. */

#include "util/slice.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAST_SLICE_NSEC 100000 /* the shortest slice that the kernel accepts */

#define RESET_ON_FORK 1 /* SCHED_FLAG_RESET_ON_FORK: child processes get the default slice */

/* As in sched_setattr(2); the C library does not declare it. */
typedef struct
{
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime; /* ns; for SCHED_OTHER the slice */
  uint64_t deadline;
  uint64_t period;
} Attributes;

void
sysprof_shorten_slice (void)
{
  const Attributes attributes = {
    .size = sizeof attributes,
    .policy = SCHED_OTHER,
    .flags = RESET_ON_FORK,
    .nice = getpriority (PRIO_PROCESS, 0),
    .runtime = LEAST_SLICE_NSEC,
  };

  /* refused: the thread only runs later */
  (void) syscall (SYS_sched_setattr, 0, &attributes, 0U);
}
