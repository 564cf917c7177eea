// SPDX-License-Identifier: GPL-3.0-or-later

/* Raises the priority of the unwinder's threads. It must never fail the recording. */

#include "unwinder/priority.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PRIORITY 1
#define NICE     (-10)

void
sysprof_raise_priority (void)
{
  struct sched_param parameters = { .sched_priority = PRIORITY };

  /* Without permission, more samples arrive before their tables are ready. The recording's
   * statistics show that. */
  if (pthread_setschedparam (pthread_self (), SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) !=
      0)
    (void) setpriority (PRIO_PROCESS, (id_t) syscall (SYS_gettid), NICE);
}
