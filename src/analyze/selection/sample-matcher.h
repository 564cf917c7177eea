// SPDX-License-Identifier: GPL-3.0-or-later

/* Which samples a filter takes.
 *
 * Samples lie in the order of time, so spans are runs of them, found by bisection; everything else that a filter asks
 * of a sample is a look-up in a small table, and what it asks of a stack is answered once per stack. *Owned*. */

#pragma once

#include "analyze/selection/selection.h"

typedef struct
{
  const StackEvents *samples;
  const TimeRange *times; /* [n_times] not yet visited */
  uint32_t n_times;
  TimeRange limits;       /* where there is only one */
  const OwnedSpan *spans; /* [n_spans] or NULL */
  uint32_t n_spans;
  const OwnedSpan *other_spans; /* [n_other_spans] of times without samples, or NULL */
  uint32_t n_other_spans;
  uint8_t *process_is_in;     /* [processes.n] or NULL: all are */
  uint8_t *cpu_is_in;         /* by the cpu as an unsigned number, or NULL */
  uint8_t *stack_is_in;       /* [stacks.n] or NULL */
  const uint8_t *event_is_in; /* [samples->n] or NULL */
  int32_t *tids;              /* [n_tids] ascending */
  uint32_t n_tids;
  bool has_tids;
  bool excludes_tids; /* all but `tids` */
  bool is_plain;      /* nothing but time counts */
} SampleMatcher;

/* `filter` may be NULL; it is borrowed. */
void sysprof_sample_matcher_init (SampleMatcher *self,
                                  const Store *store,
                                  const SymbolTable *symbols,
                                  const SampleFilter *filter);
/* The same without what the filter asks of stacks. */
void sysprof_sample_matcher_init_events (SampleMatcher *self,
                                         const Store *store,
                                         const SampleFilter *filter);
/* The next samples [begin, end) in time. FALSE when there are none left. */
bool sysprof_sample_matcher_next_run (SampleMatcher *self, uint32_t *begin, uint32_t *end);
/* Whether such a sample is in. */
bool sysprof_sample_matcher_takes_slowly (const SampleMatcher *self, uint32_t sample);
void sysprof_sample_matcher_clear (SampleMatcher *self);

static inline bool
sysprof_sample_matcher_takes (const SampleMatcher *self, uint32_t sample)
{
  return self->is_plain || sysprof_sample_matcher_takes_slowly (self, sample);
}
