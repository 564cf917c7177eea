// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <glib.h>

#define CPUS_ONLINE_PATH "/sys/devices/system/cpu/online"

/* Parses a CPU list such as "0-3,8" and keeps its order. Parsing stops at the first malformed
 * part. *(full)*, of int */
GArray *sysprof_cpus_parse (const char *list);

/* The CPUs that are online now; never empty. */
GArray *sysprof_cpus_online (void);
