// SPDX-License-Identifier: GPL-3.0-or-later

/* Which events take part in a computation, and the weight of their stacks. */

#pragma once

#include "symbolize/symbolize.h"

typedef struct
{
  int64_t begin; /* ns, absolute */
  int64_t end;   /* ns, first instant that is out */
} TimeRange;

/* A time that counts for the events of one process, or of one CPU; for all where both are -1. */
typedef struct
{
  int32_t pid;
  int32_t cpu;
  TimeRange time;
} OwnedSpan;

/* Whether `spans` contain the event. They are sorted by pid, CPU and time, and do not
 * overlap for one pid and CPU. */
bool sysprof_owned_spans_contain (const OwnedSpan *spans,
                                  uint32_t n,
                                  int64_t time,
                                  int32_t pid,
                                  int32_t cpu);

/* What takes part, of the samples or of another table. A zeroed filter takes all samples. AND between members, OR within one. */
typedef struct SampleFilter
{
  const StackEvents *
      events; /* of the store, or with weights of their own (WeighedEvent); NULL = its samples */
  const uint8_t *event_is_in; /* [events->n] or NULL: all */
  bool weigh_one;             /* each weighs 1, whatever its weight */
  const char *
      weight_name; /* what the weight is, and its unit ("ns", "count"); NULL = as usual of such events */
  const char *weight_unit;
  int64_t time_begin; /* ns, absolute; with time_end = 0: no limit */
  int64_t time_end;   /* ns, first instant that is out; 0: no limit */
  const TimeRange *
      times; /* [n_times] ascending, disjoint, all within the limits above; NULL: the limits alone count */
  uint32_t n_times;
  const OwnedSpan *
      spans; /* [n_spans] samples and waits must lie in one of these, too: `times` is their union, or less; NULL: no matter */
  uint32_t n_spans;
  const OwnedSpan
      *other_spans; /* [n_other_spans] events in one of these are left out; or NULL */
  uint32_t n_other_spans;
  const ProcessId *processes; /* [n_processes] */
  uint32_t n_processes;
  const int32_t *tids; /* [n_tids] */
  uint32_t n_tids;
  const int32_t *cpus; /* [n_cpus] */
  uint32_t n_cpus;
  bool has_processes; /* so that "none matched" differs from "not asked" */
  bool has_tids;
  bool has_cpus;
  bool excludes_tids; /* instead of has_tids: all threads but `tids` */
  bool excludes_cpus; /* the same of `cpus` */
  bool no_idle;       /* of samples, those of the kernel's idle task are out: process 0 */
  const char *const *
      symbol_terms; /* NULL-terminated or NULL: stacks that contain one as a substring, case ignored; */
  const char *const *
      binary_terms; /* a term that begins with ! excludes. A binary term with a / is sought in the path */
} SampleFilter;

/* Whether it leaves nothing out, whatever it weighs. It may be NULL. */
bool sysprof_filter_is_whole (const SampleFilter *filter);

static inline const StackEvents *
sysprof_filter_events (const SampleFilter *filter, const Store *store)
{
  return filter != NULL && filter->events != NULL ? filter->events : &store->samples;
}

/* Whether its events are the store's samples, whatever they weigh: then indices of them are indices of samples. */
static inline bool
sysprof_filter_is_of_samples (const SampleFilter *filter, const Store *store)
{
  return sysprof_filter_events (filter, store)->time == store->samples.time;
}

/* Selects marks, counters, logs and messages by the times, processes and CPUs of a filter.
 * They have no thread and no stack, so a filter with threads or functions selects none of
 * them. *Owned*. */
typedef struct
{
  const SampleFilter *filter; /* borrowed */
  GHashTable *pids;           /* NULL: all */
  bool is_empty;
} EventMatcher;

void sysprof_event_matcher_init (EventMatcher *self,
                                 const Store *store,
                                 const SampleFilter *filter); /* may be NULL */
bool
sysprof_event_matcher_takes (const EventMatcher *self, int64_t time, int32_t pid, int16_t cpu);
void sysprof_event_matcher_clear (EventMatcher *self);

/* Weight per distinct stack. *Owned* while it is folded, then *frozen*. */
typedef struct
{
  uint64_t *self; /* [store->stacks.n] */
  uint64_t total; /* sum of all */
  struct          /* the same split by thread, on request */
  {
    StackId *stack;
    int32_t *tid;
    uint64_t *self;
    uint32_t n;
  } by_thread;
} StackWeights;

void sysprof_stack_weights_fold (
    StackWeights *self,
    const Store *store,
    const SymbolTable *symbols, /* may be NULL without symbol and binary terms */
    const SampleFilter *filter, /* may be NULL */
    bool by_thread);
void sysprof_stack_weights_clear (StackWeights *self);

/* The samples that the filter takes, by time: indices into store->samples. *(full)* */
uint32_t *sysprof_samples_find (const Store *store,
                                const SymbolTable *symbols,
                                const SampleFilter *filter,
                                uint32_t *n_samples);
