// SPDX-License-Identifier: GPL-3.0-or-later

/* Fork and join over ranges: the only way in which the analysis uses threads. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Works on [begin, end); `worker` is 0 … sysprof_parallel_workers() - 1. */
typedef void (*ParallelFunc) (size_t begin, size_t end, unsigned worker, void *data);

/* The maximum number of workers: the CPUs that this process may use, at most 64. */
unsigned sysprof_parallel_workers (void);

/* Splits [0, n) into ranges of at least `grain` items, one per worker, calls `func` for each on
 * its own thread (one is the caller's), and returns when all are done. The caller sees
 * everything that the calls have written. Uses only the caller's thread if one range is enough
 * or no thread can be started. */
void sysprof_parallel_ranges (size_t n, size_t grain, ParallelFunc func, void *data);

/* Whether this process can start a thread now. If it cannot, GLib would end the program or wait
 * forever, so the caller should report the error first. */
bool sysprof_check_threads (GError **error);
