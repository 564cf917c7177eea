// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <glib.h>

#define CPUS_ONLINE_PATH "/sys/devices/system/cpu/online"

/* The numbers in a list like "0-3,8", ascending as they stand there. What makes no sense ends it. *(full)*, of int */
GArray *sysprof_cpus_parse (const char *list);

/* Those that are online now; never empty. */
GArray *sysprof_cpus_online (void);
