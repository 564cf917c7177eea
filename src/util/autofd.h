// SPDX-License-Identifier: GPL-3.0-or-later

/* A descriptor that is closed at the end of its scope (GLib has this since 2.76). */

#pragma once

#include <errno.h>
#include <unistd.h>

static inline void
sysprof_autofd_close (int *fd)
{
  int saved = errno;

  if (*fd >= 0)
    (void) close (*fd); /* close() loses no data of a descriptor that is only read */
  errno = saved;
}

static inline int
sysprof_steal_fd (int *fd)
{
  int stolen = *fd;

  *fd = -1;
  return stolen;
}

#define autofd __attribute__ ((cleanup (sysprof_autofd_close))) int
