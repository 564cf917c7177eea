// SPDX-License-Identifier: GPL-3.0-or-later

/* A slice starts when the CPU switches to a thread and ends at the next switch on that CPU. The
 * slice is dropped if its start is unknown. This is so if the kernel has lost records, or if
 * the thread that stops is not the one that started. */

#include "perf/scheduler-marks.h"

#include "access/access.h"
#include "util/util.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMM_SIZE 16 /* TASK_COMM_LEN */
#define UNKNOWN   (-1)

typedef struct
{
  int64_t since; /* ns; 0 = unknown */
  int32_t tid;   /* the running thread; UNKNOWN before the first switch, 0 = idle */
  int32_t seen;  /* if `tid` is UNKNOWN: the thread that ran after the end */
  char comm[COMM_SIZE];
  char name[sizeof ((SysprofCaptureMark *) NULL)->name];
} Slice;

struct SchedulerMarks
{
  SwitchLayout layout;
  PerfDecoder *decoder;
  GArray *slices; /* of Slice, by CPU */
  int64_t end;    /* ns */
};

/* The fields of one record. */
typedef struct
{
  int64_t time;
  int32_t pid; /* of the thread that stops; -1 if it has exited */
  int32_t prev_tid;
  int32_t next_tid;
  const char *prev_comm; /* [COMM_SIZE] */
  const char *next_comm;
} Switch;

bool
sysprof_switch_layout_parse (SwitchLayout *self, Text format)
{
  return sysprof_tracepoint_get_id (format, &self->id) &&
         sysprof_tracepoint_find_field (format, "prev_comm", &self->prev_comm) &&
         sysprof_tracepoint_find_field (format, "prev_pid", &self->prev_pid) &&
         sysprof_tracepoint_find_field (format, "next_comm", &self->next_comm) &&
         sysprof_tracepoint_find_field (format, "next_pid", &self->next_pid) &&
         self->prev_comm.size >= COMM_SIZE && self->next_comm.size >= COMM_SIZE &&
         self->prev_pid.size == sizeof (int32_t) && self->next_pid.size == sizeof (int32_t);
}

SchedulerMarks *
sysprof_scheduler_marks_new (const SwitchLayout *layout)
{
  SchedulerMarks *self = g_new0 (SchedulerMarks, 1);

  self->layout = *layout;
  self->slices = g_array_new (false, true, sizeof (Slice));
  self->end = INT64_MAX;
  return self;
}

void
sysprof_scheduler_marks_free (SchedulerMarks *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->slices);
  g_free (self);
}

void
sysprof_scheduler_marks_set_decoder (SchedulerMarks *self, PerfDecoder *decoder)
{
  self->decoder = decoder;
}

void
sysprof_scheduler_marks_set_end (SchedulerMarks *self, int64_t time)
{
  self->end = time;
}

/* Slots are added on demand, because a CPU can come online during the recording. */
static Slice *
get_slice (SchedulerMarks *self, int cpu)
{
  Slice *slice;

  if ((guint) cpu >= self->slices->len)
    g_array_set_size (self->slices, (guint) cpu + 1);
  slice = &g_array_index (self->slices, Slice, cpu);
  if (slice->name[0] == '\0')
    (void) snprintf (slice->name, sizeof slice->name, "CPU %d", cpu);
  return slice;
}

void
sysprof_scheduler_marks_begin (SchedulerMarks *self, int cpu, int64_t time)
{
  Slice *slice = get_slice (self, cpu);

  slice->since = time;
  slice->tid = UNKNOWN;
  slice->seen = UNKNOWN;
}

static bool
is_silent (const Slice *slice)
{
  return slice->since != 0 && slice->tid == UNKNOWN && slice->seen == UNKNOWN;
}

bool
sysprof_scheduler_marks_has_silent (const SchedulerMarks *self)
{
  for (guint cpu = 0; cpu < self->slices->len; cpu++)
    if (is_silent (&g_array_index (self->slices, Slice, cpu)))
      return true;
  return false;
}

void
sysprof_scheduler_marks_saw (SchedulerMarks *self, int cpu, int32_t tid)
{
  Slice *slice = get_slice (self, cpu);

  if (is_silent (slice))
    slice->seen = tid;
}

/* --- records --- */

static bool
take_bytes (const uint8_t **at, const uint8_t *end, void *value, size_t size)
{
  if ((size_t) (end - *at) < size)
    return false;

  memcpy (value, *at, size);
  *at += size;
  return true;
}

/* Returns the field's address in `raw`, which has `size` bytes, or NULL. */
static const uint8_t *
find_field (const uint8_t *raw, uint32_t size, TracepointField field)
{
  return field.offset <= size && field.size <= size - field.offset ? raw + field.offset : NULL;
}

static bool
decode_switch (const SwitchLayout *layout, const struct perf_event_header *record, Switch *into)
{
  const uint8_t *at = (const uint8_t *) (record + 1);
  const uint8_t *end = (const uint8_t *) record + record->size;
  const uint8_t *prev_pid, *next_pid;
  int32_t tid;
  uint32_t size;

  if (!take_bytes (&at, end, &into->pid, sizeof into->pid) ||
      !take_bytes (&at, end, &tid, sizeof tid) ||
      !take_bytes (&at, end, &into->time, sizeof into->time) ||
      !take_bytes (&at, end, &size, sizeof size) || size > (size_t) (end - at))
    return false;

  prev_pid = find_field (at, size, layout->prev_pid);
  next_pid = find_field (at, size, layout->next_pid);
  into->prev_comm = (const char *) find_field (at, size, layout->prev_comm);
  into->next_comm = (const char *) find_field (at, size, layout->next_comm);
  if (prev_pid == NULL || next_pid == NULL || into->prev_comm == NULL ||
      into->next_comm == NULL)
    return false;

  memcpy (&into->prev_tid, prev_pid, sizeof into->prev_tid);
  memcpy (&into->next_tid, next_pid, sizeof into->next_tid);
  return true;
}

/* --- marks --- */

static bool
write_mark (SchedulerMarks *self,
            const Slice *slice,
            int cpu,
            int32_t pid,
            const char *comm,
            int64_t until)
{
  static const char group[sizeof ((SysprofCaptureMark *) NULL)->group] = "Scheduler";
  size_t comm_size = strnlen (comm, COMM_SIZE - 1);
  size_t size = sizeof (SysprofCaptureMark) + comm_size + 1;
  SysprofCaptureMark *mark = sysprof_capture_writer_reserve (self->decoder->writer, size);

  if (mark == NULL)
    return false;

  mark->frame = (SysprofCaptureFrame){
    .cpu = (int16_t) cpu,
    .pid = pid,
    .time = slice->since,
    .type = SYSPROF_CAPTURE_FRAME_MARK,
  };
  mark->duration = until - slice->since;
  memcpy (mark->group, group, sizeof mark->group);
  memcpy (mark->name, slice->name, sizeof mark->name);
  memcpy (mark->message, comm, comm_size);
  mark->message[comm_size] = '\0';
  sysprof_capture_writer_commit (self->decoder->writer, size);
  return true;
}

static bool
is_known (const Slice *slice, const Switch *taken)
{
  return slice->since != 0 && slice->since <= taken->time &&
         (slice->tid == UNKNOWN || slice->tid == taken->prev_tid);
}

static bool
take_switch (SchedulerMarks *self, const struct perf_event_header *record)
{
  int cpu = self->decoder->cpu;
  Slice *slice = get_slice (self, cpu);
  bool is_written = true;
  Switch taken;

  if (!decode_switch (&self->layout, record, &taken))
    {
      slice->since = 0;
      return false;
    }
  if (taken.time >= self->end)
    {
      /* The slice that lasts until the end is written by sysprof_scheduler_marks_finish(). */
      if (slice->since != 0 && slice->tid == UNKNOWN)
        {
          slice->tid = taken.prev_tid;
          memcpy (slice->comm, taken.prev_comm, sizeof slice->comm);
        }
      return true;
    }

  /* An exited thread has no process any more, so use its thread ID. */
  if (taken.prev_tid != 0 && is_known (slice, &taken))
    is_written = !self->decoder->drops_samples &&
                 write_mark (self, slice, cpu, taken.pid > 0 ? taken.pid : taken.prev_tid,
                             taken.prev_comm, taken.time);

  /* The first record can be older than the start that was announced; the thread then runs since
   * the start. */
  if (slice->tid != UNKNOWN || taken.time > slice->since)
    slice->since = taken.time;
  slice->tid = taken.next_tid;
  memcpy (slice->comm, taken.next_comm, sizeof slice->comm);
  return is_written;
}

static void
take_lost (SchedulerMarks *self, const struct perf_event_header *record)
{
  const uint8_t *at = (const uint8_t *) (record + 1);
  const uint8_t *end = (const uint8_t *) record + record->size;
  uint64_t event_id, n;

  get_slice (self, self->decoder->cpu)->since = 0;
  if (take_bytes (&at, end, &event_id, sizeof event_id) && take_bytes (&at, end, &n, sizeof n))
    self->decoder->n_kernel_lost += n;
  else
    self->decoder->n_dropped_samples++;
}

void
sysprof_scheduler_marks_take (const struct perf_event_header *record, void *data)
{
  SchedulerMarks *self = data;

  if (record->type == PERF_RECORD_SAMPLE)
    self->decoder->n_dropped_samples += !take_switch (self, record);
  else if (record->type == PERF_RECORD_LOST)
    take_lost (self, record);
}

static void
read_comm (Slice *slice, Privilege *privilege)
{
  autofd fd = sysprof_privilege_open_process_file (privilege, slice->tid, "comm");
  ssize_t size = fd >= 0 ? read (fd, slice->comm, sizeof slice->comm - 1) : 0;

  slice->comm[MAX (size, 0)] = '\0';
  slice->comm[strcspn (slice->comm, "\n")] = '\0';
}

void
sysprof_scheduler_marks_finish (SchedulerMarks *self, Privilege *privilege)
{
  for (guint cpu = 0; cpu < self->slices->len; cpu++)
    {
      Slice *slice = &g_array_index (self->slices, Slice, cpu);
      int32_t pid;

      if (slice->tid == UNKNOWN && slice->seen > 0)
        {
          slice->tid = slice->seen;
          read_comm (slice, privilege);
        }
      if (slice->since == 0 || slice->since >= self->end || slice->tid <= 0)
        continue;

      pid = sysprof_tasks_find_process (privilege, slice->tid);
      if (!write_mark (self, slice, (int) cpu, pid > 0 ? pid : slice->tid, slice->comm,
                       self->end))
        self->decoder->n_dropped_samples++;
    }
}
