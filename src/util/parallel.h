// SPDX-License-Identifier: GPL-3.0-or-later

/* Fork and join over ranges: the only way the analysis uses threads. */

#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Works on [begin, end); `worker` is 0 … sysprof_parallel_workers() - 1. */
typedef void (*ParallelFunc) (size_t begin, size_t end, unsigned worker, void *data);

/* How many workers a call uses at most: the CPUs this process may run on, at most 64. */
unsigned sysprof_parallel_workers (void);

/* Splits [0, n) into ranges of at least `grain` items, one per worker, calls `func` for each
 * on its own thread (the caller's among them), and returns when all are done. What the calls
 * write is visible to the caller afterwards. Runs on the caller's thread alone where one
 * range is enough or no thread can be started. */
void sysprof_parallel_ranges (size_t n, size_t grain, ParallelFunc func, void *data);

/* Whether the system gives this process a thread now. GLib ends the program, or waits for ever, where it gets none. */
bool sysprof_check_threads (GError **error);
