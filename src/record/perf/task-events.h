// SPDX-License-Identifier: GPL-3.0-or-later

/* What the kernel tells about tasks, for who keeps track of them rather than writes it down. */

#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum
{
  TASK_MAPPED,   /* executable memory */
  TASK_EXECUTED, /* another program */
  TASK_FORKED,   /* `parent_pid` has */
  TASK_EXITED,
} TaskEventKind;

typedef struct
{
  TaskEventKind kind;
  int32_t pid;
  int32_t parent_pid;
  int64_t time; /* ns */

  /* Of TASK_MAPPED. */
  uint64_t start;
  uint64_t end;
  uint64_t offset;
  uint64_t inode;
  uint64_t inode_generation;
  uint32_t device_major;
  uint32_t device_minor;
  const char *path; /* in the record; as the process sees it, or a name like "[vdso]" */
} TaskEvent;

/* Takes `record`, whose event has sample_id_all and PERF_DECODE_SAMPLE_TYPE. FALSE for records of other kinds, for what
 * threads do, and for records that make no sense. */
bool sysprof_task_event_parse (TaskEvent *self, const struct perf_event_header *record);
