// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <glib.h>
#include <sched.h>

/* Has this thread run on as many of the allowed CPUs as there are, but at most `n`. Returns how
 * many. */
static inline unsigned
use_cpus (const cpu_set_t *allowed, unsigned n)
{
  cpu_set_t some;
  unsigned n_some = 0;

  CPU_ZERO (&some);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE && n_some < n; cpu++)
    if (CPU_ISSET (cpu, allowed))
      {
        CPU_SET (cpu, &some);
        n_some++;
      }
  g_assert_no_errno (sched_setaffinity (0, sizeof some, &some));
  return n_some;
}
