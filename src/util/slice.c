// SPDX-License-Identifier: GPL-3.0-or-later

#include "util/slice.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAST_SLICE_NSEC 100000 /* the kernel takes no shorter one */

#define RESET_ON_FORK \
  1 /* SCHED_FLAG_RESET_ON_FORK: programs that we start have the usual slice */

/* As in the manual page of sched_setattr(2), which the C library does not declare. */
typedef struct
{
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime; /* ns; of SCHED_OTHER the slice */
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

  (void) syscall (SYS_sched_setattr, 0, &attributes, 0U); /* refused: it runs later */
}
