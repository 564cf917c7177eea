// SPDX-License-Identifier: GPL-3.0-or-later

/* What views of marks, counters, logs and messages share. */

#pragma once

#include "views/sample-rows.h"

/* Rows that are no samples: `total` of `n_available` things called `name` ("marks") are in. */
void sysprof_rows_init_events (Rows *self,
                               const Column *columns,
                               uint32_t n_columns,
                               const char *name,
                               uint64_t total,
                               uint64_t n_available);
/* Durations of what happened `spread.n` times into six columns from `cells` on: min, median, mean, p95, p99, max; none
 * if it never happened. */
void sysprof_cells_set_spread (Cell *cells, const Spread *spread);
/* The title of such columns, in their order. */
#define SPREAD_COLUMNS(first)                                      \
  [first] = { "min", "MIN", COLUMN_DURATION, .extra = 3 },         \
  [(first) + 1] = { "median", "MEDIAN", COLUMN_DURATION },         \
  [(first) + 2] = { "mean", "MEAN", COLUMN_DURATION, .extra = 3 }, \
  [(first) + 3] = { "p95", "P95", COLUMN_DURATION, .extra = 1 },   \
  [(first) + 4] = { "p99", "P99", COLUMN_DURATION, .extra = 2 },   \
  [(first) + 5] = { "max", "MAX", COLUMN_DURATION }
#define N_SPREAD_COLUMNS 6
/* A copy in the arena of the rows. */
const char *sysprof_rows_dup_text (Rows *self, Text text);
