// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/descriptor-limit.h"

#include <sys/param.h>
#include <sys/resource.h>

static rlim_t original, raised; /* soft limits; 0 = never raised */

static void
set_soft_limit (rlim_t value)
{
  struct rlimit limit;

  if (getrlimit (RLIMIT_NOFILE, &limit) != 0)
    return;

  limit.rlim_cur = value;
  (void) setrlimit (RLIMIT_NOFILE, &limit); /* where it does not reach, opening says so */
}

void
sysprof_descriptor_limit_raise (unsigned long needed)
{
  struct rlimit limit;

  if (needed > 0 && getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < needed)
    {
      if (original == 0)
        original = limit.rlim_cur;
      raised = MIN ((rlim_t) needed, limit.rlim_max);
    }
  if (raised > 0)
    set_soft_limit (raised);
}

void
sysprof_descriptor_limit_restore (void)
{
  if (original > 0)
    set_soft_limit (original);
}
