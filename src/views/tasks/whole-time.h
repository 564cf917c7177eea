// SPDX-License-Identifier: GPL-3.0-or-later

/* The filter of views that have no time: what a process has mapped or mounted. */

#pragma once

#include "views/views.h"

/* The filter without its times and CPUs. */
static inline SampleFilter
sysprof_filter_of_whole_time (const SampleFilter *filter)
{
  SampleFilter whole = { 0 };

  if (filter != NULL)
    whole = *filter;
  whole.times = NULL;
  whole.n_times = 0;
  whole.time_begin = whole.time_end = 0;
  return whole;
}
