// SPDX-License-Identifier: GPL-3.0-or-later

/* What views of marks, counters, logs and messages share. */

#pragma once

#include "views/sample-rows.h"

/* Initializes rows of events. `total` of the `n_available` events of the capture are
 * selected; `name` is their plural ("marks"). */
void sysprof_rows_init_events (Rows *self,
                               const Column *columns,
                               uint32_t n_columns,
                               const char *name,
                               uint64_t total,
                               uint64_t n_available);
/* Sets six cells to the minimum, median, mean, 95th and 99th percentile and maximum of
 * durations; to no value if there are none. */
void sysprof_cells_set_spread (Cell *cells, const Spread *spread);
/* The columns for sysprof_cells_set_spread(), from index `first`. */
#define SPREAD_COLUMNS(first)                                      \
  [first] = { "min", "MIN", COLUMN_DURATION, .extra = 3 },         \
  [(first) + 1] = { "median", "MEDIAN", COLUMN_DURATION },         \
  [(first) + 2] = { "mean", "MEAN", COLUMN_DURATION, .extra = 3 }, \
  [(first) + 3] = { "p95", "P95", COLUMN_DURATION, .extra = 1 },   \
  [(first) + 4] = { "p99", "P99", COLUMN_DURATION, .extra = 2 },   \
  [(first) + 5] = { "max", "MAX", COLUMN_DURATION }
#define N_SPREAD_COLUMNS 6
/* Returns a copy in the arena of the rows. */
const char *sysprof_rows_dup_text (Rows *self, Text text);
