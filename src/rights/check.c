// SPDX-License-Identifier: GPL-3.0-or-later

/* Decides which events the server opens for a client. An event is refused if it uses anything
 * that the recorder's own events never use: breakpoints, probes, signals, AUX areas, and
 * whatever later kernels add. For this, the request is compared with a copy that has only the
 * known members. */

#include "rights/message.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define MOST_FREQUENCY    50000u /* samples per second and CPU */
#define LEAST_CLOCK_NSEC  20000u /* the same limit as a period */
#define MOST_STACK        65528u /* bytes of a stack in one record */
#define MOST_CPU          65536
#define MOST_ENERGY_EVENT 0xffu
#define MOST_CACHE_EVENT  0xffffffu /* cache, operation and result, a byte each */

#define KNOWN_SAMPLE_TYPE                                                                 \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                \
   PERF_SAMPLE_PERIOD | PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STREAM_ID | \
   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP | PERF_SAMPLE_REGS_USER |                   \
   PERF_SAMPLE_STACK_USER)

/* A copy of the request without the members that are not known here. */
static struct perf_event_attr
copy_known (const struct perf_event_attr *asked)
{
  return (struct perf_event_attr){
    .type = asked->type,
    .size = sizeof *asked,
    .config = asked->config,
    .sample_period = asked->sample_period, /* in a union with sample_freq */
    .sample_type = asked->sample_type,
    .read_format = asked->read_format,
    .disabled = asked->disabled,
    .inherit = asked->inherit,
    .inherit_thread = asked->inherit_thread,
    .exclude_user = asked->exclude_user,
    .exclude_kernel = asked->exclude_kernel,
    .exclude_hv = asked->exclude_hv,
    .exclude_idle = asked->exclude_idle,
    .exclude_guest = asked->exclude_guest,
    .exclude_callchain_kernel = asked->exclude_callchain_kernel,
    .exclude_callchain_user = asked->exclude_callchain_user,
    .mmap = asked->mmap,
    .mmap2 = asked->mmap2,
    .comm = asked->comm,
    .comm_exec = asked->comm_exec,
    .task = asked->task,
    .namespaces = asked->namespaces,
    .ksymbol = asked->ksymbol,
    .build_id = asked->build_id,
    .freq = asked->freq,
    .watermark = asked->watermark,
    .sample_id_all = asked->sample_id_all,
    .use_clockid = asked->use_clockid,
    .clockid = asked->clockid,
    .wakeup_watermark = asked->wakeup_watermark,
    .sample_regs_user = asked->sample_regs_user,
    .sample_stack_user = asked->sample_stack_user,
    .sample_max_stack = asked->sample_max_stack,
  };
}

static bool
is_clock (const struct perf_event_attr *attr)
{
  return attr->type == PERF_TYPE_SOFTWARE &&
         (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* A counter of energy counts on one CPU for all CPUs, and cannot be sampled. */
static bool
is_known_energy (const RightsRequest *request)
{
  const struct perf_event_attr *attr = &request->event.attr;

  return request->pid == -1 && attr->config <= MOST_ENERGY_EVENT && attr->sample_type == 0 &&
         attr->sample_period == 0 && !attr->inherit;
}

static bool
is_known_event (const struct perf_event_attr *attr)
{
  switch (attr->type)
    {
    case PERF_TYPE_HARDWARE:
      return attr->config < PERF_COUNT_HW_MAX;
    case PERF_TYPE_SOFTWARE:
      return attr->config <= PERF_COUNT_SW_BPF_OUTPUT;
    case PERF_TYPE_HW_CACHE:
      return attr->config <= MOST_CACHE_EVENT;
    case PERF_TYPE_TRACEPOINT:
      return attr->config <= INT32_MAX;
    default:
      return false;
    }
}

/* The raw part of a tracepoint's record contains whatever the kernel passes to the tracepoint.
 * Only the output of a BPF program and the tracepoint of switches are permitted. */
static bool
is_known_sample (const struct perf_event_attr *attr, uint64_t switch_id)
{
  uint64_t known = KNOWN_SAMPLE_TYPE;

  if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT)
    known |= PERF_SAMPLE_RAW;
  if (attr->type == PERF_TYPE_TRACEPOINT && attr->config == switch_id && switch_id != 0)
    known |= PERF_SAMPLE_RAW;
  return (attr->sample_type & ~known) == 0 && attr->sample_stack_user <= MOST_STACK;
}

static bool
is_bearable (const struct perf_event_attr *attr)
{
  if (attr->freq)
    return attr->sample_freq > 0 && attr->sample_freq <= MOST_FREQUENCY;
  return !is_clock (attr) || attr->sample_period >= LEAST_CLOCK_NSEC;
}

bool
sysprof_rights_is_known_event (const struct perf_event_attr *attr, uint64_t switch_id)
{
  return is_known_event (attr) && is_known_sample (attr, switch_id);
}

int
sysprof_rights_check_event (const RightsRequest *request,
                            bool has_cgroup,
                            uint64_t switch_id,
                            bool is_energy)
{
  const struct perf_event_attr *attr = &request->event.attr;
  const struct perf_event_attr known = copy_known (attr);
  int32_t cpu = request->event.cpu;

  if (memcmp (&known, attr, sizeof known) != 0 ||
      !(is_energy ? !has_cgroup && is_known_energy (request) : is_known_event (attr)) ||
      !is_known_sample (attr, switch_id) || !is_bearable (attr) ||
      attr->clockid != CLOCK_MONOTONIC)
    return EPERM;

  /* 0 would be the server itself. */
  if (cpu < 0 || cpu >= MOST_CPU || request->pid == 0 || request->pid < -1 ||
      (has_cgroup && request->pid != -1))
    return EPERM;
  return 0;
}
