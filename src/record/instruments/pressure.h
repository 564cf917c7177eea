// SPDX-License-Identifier: GPL-3.0-or-later

/* The parser of the kernel's pressure texts, which have the same format for the system and for
 * cgroups. */

#pragma once

#include "record/counters/sampled-counters.h"

#define PERCENT_OF_TIME 1e-4 /* from stalled microseconds per second */

typedef struct
{
  uint64_t some_usec; /* at least one task was stalled */
  uint64_t full_usec; /* all tasks were stalled */
  bool has_some;
  bool has_full;
} StallSums;

/* FALSE if `text` is not a pressure text. */
bool sysprof_pressure_parse (Text text, StallSums *sums);

extern const SampledCounters sysprof_pressure_group_counters;
