// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts records of the tracepoint sched:sched_switch to marks. A mark contains a thread, its
 * CPU, and the time for which it ran.
 *
 *   SwitchLayout layout;
 *   sysprof_switch_layout_parse (&layout, format);
 *   SchedulerMarks *marks = sysprof_scheduler_marks_new (&layout);
 *   PerfSessionOptions options = { …, .func = sysprof_scheduler_marks_take, .func_data = marks };
 *
 * Processing a record needs no allocation and no system call. *Owned* by the pump thread. */

#pragma once

#include "access/access.h"
#include "perf/decode.h"
#include "perf/tracepoint-format.h"

/* Each record contains two i32 (process, thread), u64 time, u32 size, and `size` bytes in the
 * layout of the tracepoint's format. */
#define SCHEDULER_SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)

typedef struct
{
  uint64_t id;
  TracepointField prev_comm;
  TracepointField prev_pid;
  TracepointField next_comm;
  TracepointField next_pid;
} SwitchLayout;

/* Parses the text of events/sched/sched_switch/format. FALSE: a field is missing or has another
 * size. */
bool sysprof_switch_layout_parse (SwitchLayout *self, Text format);

typedef struct SchedulerMarks SchedulerMarks;

SchedulerMarks *sysprof_scheduler_marks_new (const SwitchLayout *layout);
void sysprof_scheduler_marks_free (SchedulerMarks *self);

/* Announces that the records of `cpu` are complete from `time` (ns) on. The first switch then
 * shows which thread ran since that time. */
void sysprof_scheduler_marks_begin (SchedulerMarks *self, int cpu, int64_t time);
/* A PerfRecordFunc. `decoder` is borrowed: it has the writer, the CPU of the ring, and the loss
 * counters. Set it before the first record. */
void sysprof_scheduler_marks_set_decoder (SchedulerMarks *self, PerfDecoder *decoder);
void sysprof_scheduler_marks_take (const struct perf_event_header *record, void *data);
/* Sets the end of the recording. A slice that lasts longer ends there. Later records are still
 * used for the time before the end. */
void sysprof_scheduler_marks_set_end (SchedulerMarks *self, int64_t time);
/* Whether there is a CPU without any switch so far, so that its thread is unknown. A switch
 * after the end still identifies the thread. */
bool sysprof_scheduler_marks_has_silent (const SchedulerMarks *self);
/* Reports, after the end, that `tid` runs on a CPU without any switch. If no record of a switch
 * comes, the thread has run there since the start. */
void sysprof_scheduler_marks_saw (SchedulerMarks *self, int cpu, int32_t tid);
/* Writes the slices that are still open. Call it after the last record. */
void sysprof_scheduler_marks_finish (SchedulerMarks *self, Privilege *privilege);
