// SPDX-License-Identifier: GPL-3.0-or-later

/* Parses the numbers of the command line. Each function needs the whole text and sets its
 * output only on success. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

bool sysprof_cli_read_number (const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* "10", "0.5", ".25", "5s", "500ms", "2min", "2m", "1h": as ns, up to a hundred years. A number
 * without a unit is in seconds. */
bool sysprof_cli_read_duration (const char *text, int64_t *nsec);

/* "1048576", "500K", "2M", "1G": bytes above 0, in powers of 1024. A trailing B or iB is
 * allowed. */
bool sysprof_cli_read_size (const char *text, uint64_t *bytes);

/* "0,2-3": appends gint numbers below `n_cpus`. */
bool sysprof_cli_read_cpu_list (const char *text, unsigned n_cpus, GArray *cpus);
