// SPDX-License-Identifier: GPL-3.0-or-later

/* Computations on the times at which threads were off the CPU.
 *
 * A wait that overlaps the times of a filter counts with the overlapping part. */

#pragma once

#include "analyze/selection/selection.h"

/* The times of a filter, within the recording. *Owned*; the filter is borrowed. */
typedef struct
{
  const TimeRange *ranges; /* [n] ascending, disjoint */
  int64_t *before;         /* [n + 1] ns in all ranges before */
  uint32_t n;
  TimeRange limits; /* where there is only one */
  int64_t begin;    /* of the recording: ranges may begin earlier */
} TimeClip;

void sysprof_time_clip_init (TimeClip *self,
                             const Store *store,
                             const SampleFilter *filter); /* may be NULL */
void sysprof_time_clip_clear (TimeClip *self);
/* ns of [begin, end) that are in. */
int64_t sysprof_time_clip_overlap (const TimeClip *self, int64_t begin, int64_t end);
/* The first instant from `time` on that is in; INT64_MAX if there is none. */
int64_t sysprof_time_clip_first (const TimeClip *self, int64_t time);

/* By the number of the system call. *Frozen*. */
typedef struct
{
  const char *const *names; /* [n] NULL where there is none */
  uint32_t n;
} SyscallNames;

void sysprof_syscall_names_init (SyscallNames *self, const Store *store);
static inline const char *
sysprof_syscall_name (const SyscallNames *self, uint32_t number)
{
  return number < self->n ? self->names[number] : NULL;
}

/* When the waiting ends and the thread could run. */
static inline int64_t
sysprof_wait_woken_at (const Waits *waits, uint32_t wait)
{
  return waits->events.time[wait] + (waits->events.weight[wait] - waits->row[wait].runnable);
}

static inline int64_t
sysprof_wait_end (const Waits *waits, uint32_t wait)
{
  return waits->events.time[wait] + waits->events.weight[wait];
}

/* [waits.events.n] 1 for those in which a thread has nothing to do: it waits for whatever comes next, in a call that waits for
 * events (poll and its like, or for a signal), and not within something that it does already; or it is the kernel's own and
 * sleeps. *(full)* */
uint8_t *sysprof_waits_find_idle (const Store *store, const SymbolTable *symbols);

/* [stacks.n] 1 where one of the functions is on the stack, `of_kernel`: one of the kernel's. Of C++ the arguments are left out, of
 * libraries the version, of the kernel what compilers append. *(full)* */
uint8_t *sysprof_stacks_find_functions (const Store *store,
                                        const SymbolTable *symbols,
                                        const char *const *names,
                                        size_t n_names,
                                        bool of_kernel);

/* [stacks.n] 1 where it is a fence of a graphics device that is waited for. *(full)* */
uint8_t *sysprof_stacks_find_gpu_fences (const Store *store, const SymbolTable *symbols);

/* Events with columns of their own, for SampleFilter.events and .event_is_in. *Owned*. */
typedef struct
{
  StackEvents events;
  uint8_t *is_in; /* [events.n] */
} WeighedWaits;

/* Event i is wait i within the times of the filter. Other conditions of the filter also
 * apply. It weighs its duration there in ns; if it is idle and the filter excludes idle
 * waits, only the time it was runnable. */
void sysprof_waits_weigh (WeighedWaits *self,
                          const Store *store,
                          const SymbolTable *symbols,
                          const SampleFilter *filter);
/* Time on and off the CPU: samples weigh the ns that they represent, and waits are among
 * them. FALSE if the period of the samples is unknown. */
bool sysprof_waits_weigh_wall (WeighedWaits *self,
                               const Store *store,
                               const SymbolTable *symbols,
                               const SampleFilter *filter);
void sysprof_weighed_waits_clear (WeighedWaits *self);
