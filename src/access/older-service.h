// SPDX-License-Identifier: GPL-3.0-or-later

/* The privileged service of other generations, Sysprof 3.34 and later: methods of the interface
 * org.gnome.Sysprof3.Service instead of the socket of rights/rights.h. It opens events of the
 * whole machine and reads files of /proc and /sys. It never passes BPF programs, and most
 * generations do not copy stacks, so the kernel has to unwind by frame pointers. */

#pragma once

#include "dbus/dbus.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct OlderService OlderService;

/* Calls GetProcFile without waiting for the reply. Returns the serial; 0: there is no memory.
 * The service may ask the user for a password. */
uint32_t sysprof_older_service_request_file (BusConnection *bus, const char *path);
/* Stores the contents that `reply` has in an unlinked file. -1 with errno. */
int sysprof_older_service_take_file (BusMessage *reply);

/* Takes the connection, whose user the service has just authorized, and the contents of
 * /proc/kallsyms. *Owned* by one thread at a time. */
OlderService *sysprof_older_service_new (BusConnection *bus, int kallsyms);
void sysprof_older_service_free (OlderService *self);

/* perf_event_open(2). -1 with errno. EINVAL for a feature that older kernels do not have
 * either, so that the caller tries without it. EOPNOTSUPP for a frequency: the service knows
 * only periods. EACCES for every other event that the service cannot open. */
int sysprof_older_service_open_event (OlderService *self,
                                      const struct perf_event_attr *attr,
                                      pid_t pid,
                                      int cpu,
                                      unsigned long flags);
/* The contents of a file of /proc or /sys. -1 with errno. */
int sysprof_older_service_open_file (OlderService *self, const char *path);
int sysprof_older_service_open_kallsyms (OlderService *self);
