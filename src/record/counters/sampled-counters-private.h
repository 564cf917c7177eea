// SPDX-License-Identifier: GPL-3.0-or-later

/* The state of a CounterSampler, shared by sampled-counters.c and counter-files.c. */

#pragma once

#include "record/counters/sampled-counters.h"

struct CounterSampler
{
  const SampledCounters *counters;
  Privilege *machine;
  void *state; /* of a source that has a `read` function */
  int64_t next_find;
  int fds[COUNTER_MAX_PATHS]; /* -1 = missing */

  char *text; /* [text_size] the text read last */
  size_t text_size;

  CounterValues values;
  double old_values[COUNTER_MAX_ROWS];
  double old_wholes[COUNTER_MAX_ROWS];
  bool has_old[COUNTER_MAX_ROWS];
  double sums[COUNTER_MAX_ROWS]; /* of rows with sum_of */
  int64_t old_time;
  bool has_begun;                     /* a reading has been written */
  unsigned row_ids[COUNTER_MAX_ROWS]; /* 0 = not defined yet */

  /* the values of one reading: [n], with space for all counters */
  unsigned *ids;
  SysprofCaptureCounterValue *numbers;
  unsigned n;
  unsigned room;
};

/* Opens the source, or the files that exist. FALSE with `error` if there are none. */
bool sysprof_counter_sampler_open_files (CounterSampler *self, GError **error);
/* Reads the source or all files into `values`. FALSE with `error` if a text was invalid. */
bool sysprof_counter_sampler_read_files (CounterSampler *self, GError **error);

/* Writes `pattern` with its one "%s" replaced, truncated to `size` - 1 bytes, and padded with
 * zeros. */
void sysprof_counter_fill_in (char *out, size_t size, const char *pattern, const char *name);
