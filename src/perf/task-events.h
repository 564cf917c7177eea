// SPDX-License-Identifier: GPL-3.0-or-later

/* Parses the perf records of mappings, execs, forks and exits, for code that tracks processes.
 * The decoder, which writes these records to the capture, does not use it. */

#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum
{
  TASK_MAPPED,   /* executable memory */
  TASK_EXECUTED, /* the process executed another program */
  TASK_FORKED,   /* `parent_pid` forked this process */
  TASK_EXITED,
} TaskEventKind;

typedef struct
{
  TaskEventKind kind;
  int32_t pid;
  int32_t parent_pid;
  int64_t time; /* ns */

  /* Only for TASK_MAPPED. */
  uint64_t start;
  uint64_t end;
  uint64_t offset;
  uint64_t inode;
  uint64_t inode_generation;
  uint32_t device_major;
  uint32_t device_minor;
  /* Part of the record; the process's own view of the path, or a name like "[vdso]". */
  const char *path;
} TaskEvent;

/* Parses `record`, whose event has sample_id_all and PERF_DECODE_SAMPLE_TYPE. FALSE for other
 * types of records, for records about single threads, and for malformed records. */
bool sysprof_task_event_parse (TaskEvent *self, const struct perf_event_header *record);
