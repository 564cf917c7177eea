// SPDX-License-Identifier: GPL-3.0-or-later

/* The time, and the address of the bus. */

#include "sysprofd/sysprofd.h"

#include <stdlib.h>
#include <time.h>

int64_t
sysprof_service_now (void)
{
  struct timespec now;

  (void) clock_gettime (CLOCK_MONOTONIC, &now); /* always succeeds */
  return (int64_t) now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

const char *
sysprof_service_address (void)
{
  const char *address = getenv ("DBUS_SYSTEM_BUS_ADDRESS");

  return address != NULL && *address != '\0' ? address
                                             : "unix:path=/var/run/dbus/system_bus_socket";
}
