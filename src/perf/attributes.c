// SPDX-License-Identifier: GPL-3.0-or-later

/* The attributes of all perf events, and the features that older kernels do not support. */

#include "perf/attributes.h"

#include "perf/copy.h"
#include "perf/session.h"

#include <time.h>

#define NSEC_PER_SEC 1000000000u
/* The kernel wakes the pump when it has written this share of the ring since the last wake-up,
 * even if the pump has read the ring in between. Otherwise the pump's timer drains the ring. */
#define WAKE_UP_SHARE 4
/* Bytes: about a dozen samples with stack copies, so that they are unwound before their process
 * changes. */
#define COPY_WAKE_UP_SIZE (256 * 1024)

/* Features in the order in which they are dropped. The comments contain the first Linux
 * version. */
enum
{
  FEATURE_BUILD_ID = 1 << 0,       /* 5.12 */
  FEATURE_LOST = 1 << 1,           /* 6.0 */
  FEATURE_INHERIT_THREAD = 1 << 2, /* 5.13 */
  FEATURE_KSYMBOL = 1 << 3,        /* 5.1 */
  FEATURE_CALL_DEPTH = 1 << 4,     /* 4.8; also refused above kernel.perf_event_max_stack */
  FEATURE_NAMESPACES = 1 << 5,     /* 4.12; also refused without CAP_PERFMON */
  N_FEATURES = 6,
};

void
sysprof_perf_attributes_init (PerfAttributes *self, const PerfSessionOptions *options)
{
  *self = (PerfAttributes){ .options = options,
                            .event = &options->event,
                            .features = (1 << N_FEATURES) - 1 };
}

bool
sysprof_perf_attributes_reduce (PerfAttributes *self)
{
  if (self->features == 0)
    return false;

  self->features &= self->features - 1;
  return true;
}

bool
sysprof_perf_attributes_reduce_rights (PerfAttributes *self)
{
  if ((self->features & FEATURE_NAMESPACES) == 0)
    return false;

  self->features &= ~(unsigned) FEATURE_NAMESPACES;
  return true;
}

bool
sysprof_perf_attributes_counts_losses (const PerfAttributes *self)
{
  return (self->features & FEATURE_LOST) != 0;
}

int64_t
sysprof_perf_attributes_get_nsec_per_sample (const PerfAttributes *self, const PerfEvent *event)
{
  if (!self->options->samples)
    return 0;
  if (event->is_clock)
    return (int64_t) sysprof_perf_event_get_period (event, self->options->frequency);
  return event->period == 0 ? NSEC_PER_SEC / (int64_t) MAX (self->options->frequency, 1) : 0;
}

static void
fill_telling (const PerfAttributes *self, struct perf_event_attr *attr)
{
  attr->mmap = 1;
  attr->mmap2 = 1;
  attr->comm = 1;
  attr->comm_exec = 1;
  attr->task = 1;
  attr->namespaces =
      (self->features & FEATURE_NAMESPACES) != 0 && !self->options->tells_at_once;
  attr->ksymbol = (self->features & FEATURE_KSYMBOL) != 0 && !self->options->tells_at_once;
  /* A record contains either the build ID or the inode, by which the unwinder identifies the
   * file. */
  attr->build_id = (self->features & FEATURE_BUILD_ID) != 0 && !self->options->tells_at_once &&
                   !sysprof_perf_session_tells_inodes (self->options);
}

static void
name_cgroup (const PerfAttributes *self, struct perf_event_attr *attr)
{
  if (sysprof_perf_session_filters_cgroup (self->options))
    attr->sample_type |= PERF_SAMPLE_CGROUP; /* 5.7; required */
}

static void
limit_call_depth (const PerfAttributes *self, struct perf_event_attr *attr)
{
  if ((self->features & FEATURE_CALL_DEPTH) != 0 && self->options->call_depth < UINT16_MAX)
    attr->sample_max_stack = (uint16_t) self->options->call_depth;
}

/* This process unwinds the user stack from a copy. */
static void
ask_for_copies (const PerfAttributes *self, struct perf_event_attr *attr)
{
  if (self->options->stack_size == 0)
    return;

  attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr->sample_regs_user = PERF_COPY_REGISTERS;
  attr->sample_stack_user = self->options->stack_size;
  attr->exclude_callchain_user = 1;
}

static void
fill_sampling (const PerfAttributes *self, struct perf_event_attr *attr)
{
  const PerfSessionOptions *options = self->options;

  uint64_t period = sysprof_perf_event_get_period (self->event, options->frequency);

  if (options->bare_sample_type != 0)
    attr->sample_type = options->bare_sample_type;
  attr->type = self->event->type;
  attr->config = self->event->config;
  if (period == 0)
    {
      attr->freq = 1;
      attr->sample_freq = options->frequency;
    }
  else
    attr->sample_period = period;
  if (options->ledger != NULL)
    attr->sample_type |= PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD;

  /* Hardware counters stop while a CPU is idle; the software clock needs this flag. */
  attr->exclude_idle = self->event->is_clock;
  attr->exclude_guest = 1;
  name_cgroup (self, attr);
  attr->exclude_kernel = options->exclude_kernel;
  attr->exclude_hv = options->exclude_kernel;
  attr->exclude_user = options->exclude_user;
  attr->exclude_callchain_kernel = options->exclude_kernel_stacks;
  attr->exclude_callchain_user = options->exclude_user;
  ask_for_copies (self, attr);
  limit_call_depth (self, attr);
}

/* The walker's records: the kernel adds thread, time and the kernel's part of the stack; the
 * rest is the raw part. */
static void
fill_walks (const PerfAttributes *self, struct perf_event_attr *attr)
{
  if (self->options->bare_sample_type != 0)
    attr->sample_type = self->options->bare_sample_type;
  attr->config = PERF_COUNT_SW_BPF_OUTPUT;
  attr->sample_period = 1;
  attr->sample_type |= PERF_SAMPLE_RAW;
  attr->exclude_kernel = self->options->exclude_kernel;
  attr->exclude_hv = self->options->exclude_kernel;
  attr->exclude_callchain_kernel = self->options->exclude_kernel_stacks;
  attr->exclude_callchain_user = 1;
  name_cgroup (self, attr);
  limit_call_depth (self, attr);
}

static void
fill_inheritance (const PerfAttributes *self, struct perf_event_attr *attr)
{
  const PerfSessionOptions *options = self->options;

  if (options->target != PERF_TARGET_TASKS)
    return;

  if (options->follows_forks)
    attr->inherit = 1;
  else if (options->follows_threads && (self->features & FEATURE_INHERIT_THREAD) != 0)
    attr->inherit = attr->inherit_thread = 1;
}

static uint32_t
wake_up_size (const PerfAttributes *self)
{
  if (self->options->tells_at_once)
    return 1;
  /* In a session for tasks, rings may be small because of missing privileges. */
  if (self->options->stack_size > 0)
    return self->options->target == PERF_TARGET_TASKS ? COPY_WAKE_UP_SIZE / 4
                                                      : COPY_WAKE_UP_SIZE;
  return (uint32_t) (self->ring_size / WAKE_UP_SHARE);
}

void
sysprof_perf_attributes_fill (const PerfAttributes *self,
                              PerfRole role,
                              struct perf_event_attr *attr)
{
  *attr = (struct perf_event_attr){
    .size = sizeof *attr,
    .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_DUMMY,
    .sample_type = PERF_DECODE_SAMPLE_TYPE,
    .sample_id_all = 1,
    .disabled = 1,
    .use_clockid = 1,
    .clockid = CLOCK_MONOTONIC,
    .watermark = 1,
    .wakeup_watermark = wake_up_size (self),
    /* Users who may not profile the kernel may not open even a dummy event without these
     * flags. */
    .exclude_kernel = 1,
    .exclude_hv = 1,
  };

  if (sysprof_perf_attributes_counts_losses (self))
    attr->read_format = PERF_FORMAT_LOST;
  if (self->options->no_stacks)
    attr->sample_type &= ~(uint64_t) PERF_SAMPLE_CALLCHAIN;

  if (role == PERF_ROLE_SAMPLE)
    fill_sampling (self, attr);
  if (role == PERF_ROLE_WALKS)
    fill_walks (self, attr);
  if (role == PERF_ROLE_TELL || role == PERF_ROLE_LEAD_AND_TELL)
    fill_telling (self, attr);
  if (role == PERF_ROLE_TELL || role == PERF_ROLE_SAMPLE)
    fill_inheritance (self, attr);
}
