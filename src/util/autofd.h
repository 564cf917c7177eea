// SPDX-License-Identifier: GPL-3.0-or-later

/* A descriptor that closes with its scope (GLib has this from 2.76 on). */

#pragma once

#include <errno.h>
#include <unistd.h>

static inline void
sysprof_autofd_close (int *fd)
{
  int saved = errno;

  if (*fd >= 0)
    (void) close (*fd); /* nothing is buffered in a descriptor that we only read */
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
