// SPDX-License-Identifier: GPL-3.0-or-later

/* Record layouts: see perf_event_open(2), "MMAP layout". */

#include "perf/task-events.h"

#include <string.h>

/* The end of every record: see decode.h. */
typedef struct
{
  int32_t pid;
  int32_t tid;
  int64_t time;
} RecordId;

typedef struct
{
  int32_t pid;
  int32_t tid;
  uint64_t start;
  uint64_t size;
  uint64_t offset;
  uint32_t device_major;
  uint32_t device_minor;
  uint64_t inode;
  uint64_t inode_generation;
  uint32_t protection;
  uint32_t flags;
} Mmap2;

typedef struct
{
  int32_t pid;
  int32_t parent_pid;
  int32_t tid;
  int32_t parent_tid;
  int64_t time;
} Task;

/* Assign the members one by one. Compilers would initialize the struct with a vector
 * instruction, which costs more than all the rest. */
static inline void
init_event (TaskEvent *self, const RecordId *id)
{
  self->pid = id->pid;
  self->parent_pid = 0;
  self->time = id->time;
  self->start = 0;
  self->end = 0;
  self->offset = 0;
  self->inode = 0;
  self->inode_generation = 0;
  self->device_major = 0;
  self->device_minor = 0;
  self->path = NULL;
}

static bool
parse_mmap2 (TaskEvent *self, const uint8_t *body, size_t size)
{
  const char *path = (const char *) body + sizeof (Mmap2);
  Mmap2 mmap2;

  if (size <= sizeof mmap2 || memchr (path, 0, size - sizeof mmap2) == NULL)
    return false;

  memcpy (&mmap2, body, sizeof mmap2);
  if (__builtin_add_overflow (mmap2.start, mmap2.size, &self->end))
    return false;

  self->kind = TASK_MAPPED;
  self->pid = mmap2.pid;
  self->start = mmap2.start;
  self->offset = mmap2.offset;
  self->inode = mmap2.inode;
  self->inode_generation = mmap2.inode_generation;
  self->device_major = mmap2.device_major;
  self->device_minor = mmap2.device_minor;
  self->path = path;
  return true;
}

static bool
parse_task (TaskEvent *self, const uint8_t *body, size_t size, TaskEventKind kind)
{
  Task task;

  if (size < sizeof task)
    return false;

  memcpy (&task, body, sizeof task);
  self->kind = kind;
  self->pid = task.pid;
  self->parent_pid = task.parent_pid;
  self->time = task.time;
  /* Ignore new threads of the same process, and exits of threads other than the main thread. */
  return kind == TASK_FORKED ? task.pid != task.parent_pid : task.pid == task.tid;
}

bool
sysprof_task_event_parse (TaskEvent *self, const struct perf_event_header *record)
{
  const uint8_t *body = (const uint8_t *) (record + 1);
  size_t size = record->size - sizeof *record;
  RecordId id;

  if (record->size < sizeof *record || size < sizeof id)
    return false;

  size -= sizeof id;
  memcpy (&id, body + size, sizeof id);
  init_event (self, &id);

  switch (record->type)
    {
    case PERF_RECORD_MMAP2:
      return parse_mmap2 (self, body, size);
    case PERF_RECORD_COMM:
      self->kind = TASK_EXECUTED;
      return (record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    case PERF_RECORD_FORK:
      return parse_task (self, body, size, TASK_FORKED);
    case PERF_RECORD_EXIT:
      return parse_task (self, body, size, TASK_EXITED);
    default:
      return false;
    }
}
