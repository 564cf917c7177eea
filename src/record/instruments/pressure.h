// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel's texts of stalls, which have the same form for the system and for its cgroups. */

#pragma once

#include "record/sampled-counters.h"

#define PERCENT_OF_TIME 1e-4 /* from stalled microseconds per second */

typedef struct
{
  uint64_t some_usec; /* at least one task was stalled */
  uint64_t full_usec; /* all were */
  bool has_some;
  bool has_full;
} StallSums;

/* FALSE when it is no such text. */
bool sysprof_pressure_parse (Text text, StallSums *sums);

extern const SampledCounters sysprof_pressure_group_counters;
