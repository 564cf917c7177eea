// SPDX-License-Identifier: GPL-3.0-or-later

/* The steps of a critical path, and their sum. */

#pragma once

#include "views/waits/groups.h"

typedef enum
{
  PATH_RUNS,
  PATH_COULD_RUN,
  PATH_WAITS,
} PathState;

typedef struct
{
  int64_t begin;
  int64_t end;
  uint32_t thread; /* row of Waits.threads: the last one of that thread */
  PathState state;
  uint32_t wait;  /* the wait; unused if the thread runs */
  uint32_t wakes; /* 1 + the wait of another thread that it ends; 0 = none */
} PathStep;

/* "running", "runnable", or the reason of the wait. In the arena of the rows. */
const char *sysprof_path_step_state (SelectedWaits *self, const PathStep *step);

/* Fills one row for each thread, state and function of the `n` steps. */
void sysprof_waits_fill_path_sums (SelectedWaits *self, const PathStep *steps, uint32_t n);
