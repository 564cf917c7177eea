// SPDX-License-Identifier: GPL-3.0-or-later

/* Records of the tracepoint sched:sched_switch to marks: what ran on which CPU, from when to when.
 *
 *   SwitchLayout layout;
 *   sysprof_switch_layout_parse (&layout, format);
 *   SchedulerMarks *marks = sysprof_scheduler_marks_new (&layout);
 *   PerfSessionOptions options = { …, .func = sysprof_scheduler_marks_take, .func_data = marks };
 *
 * No allocation and no system call per record. *Owned* by the pump thread. */

#pragma once

#include "record/perf/decode.h"
#include "record/perf/tracepoint-format.h"
#include "record/privilege.h"

/* Each record: two i32 (process, thread), u64 time, u32 size, and so many bytes as the format says. */
#define SCHEDULER_SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)

typedef struct
{
  uint64_t id;
  TracepointField prev_comm;
  TracepointField prev_pid;
  TracepointField next_comm;
  TracepointField next_pid;
} SwitchLayout;

/* From the text of events/sched/sched_switch/format. FALSE: it is not as it must be. */
bool sysprof_switch_layout_parse (SwitchLayout *self, Text format);

typedef struct SchedulerMarks SchedulerMarks;

SchedulerMarks *sysprof_scheduler_marks_new (const SwitchLayout *layout);
void sysprof_scheduler_marks_free (SchedulerMarks *self);

/* The records of `cpu` tell all that happened from `time` (ns) on: what ran there then is known when it is switched off. */
void sysprof_scheduler_marks_begin (SchedulerMarks *self, int cpu, int64_t time);
/* A PerfRecordFunc. `decoder` is borrowed: who writes, of which CPU the ring is, and the sums of what was lost. Set it before the
 * first record. */
void sysprof_scheduler_marks_set_decoder (SchedulerMarks *self, PerfDecoder *decoder);
void sysprof_scheduler_marks_take (const struct perf_event_header *record, void *data);
/* The recording has ended at `time`: slices that go on are cut there. Records may still come, and are looked at up to then. */
void sysprof_scheduler_marks_set_end (SchedulerMarks *self, int64_t time);
/* Whether there is a CPU of whose thread nothing is known, as there was no switch since its begin. With one that comes behind the end it
 * is known after all. */
bool sysprof_scheduler_marks_has_silent (const SchedulerMarks *self);
/* Of such a CPU, behind the end: `tid` runs on it, and has run all the time, unless a record of a switch comes. */
void sysprof_scheduler_marks_saw (SchedulerMarks *self, int cpu, int32_t tid);
/* Writes what still runs; there are no more records. */
void sysprof_scheduler_marks_finish (SchedulerMarks *self, Privilege *privilege);
