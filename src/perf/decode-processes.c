// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes records of mappings, processes and kernel code. */

#include "capture/capture.h"
#include "perf/decode-private.h"

#include <stdio.h>

#define DELETED " (deleted)"

/* --- mappings --- */

static char *
put_hex (char *to, const uint8_t *bytes, size_t size)
{
  static const char digits[] = "0123456789abcdef";

  for (size_t i = 0; i < size; i++)
    {
      *to++ = digits[bytes[i] >> 4];
      *to++ = digits[bytes[i] & 15];
    }
  return to;
}

typedef struct
{
  int32_t pid;
  int64_t time;
  uint64_t start;
  uint64_t size;
  uint64_t offset;
  uint64_t inode;
  const uint8_t *build_id; /* [build_id_size] */
  size_t build_id_size;
  const char *path; /* [path_size] without NUL */
  size_t path_size;
} Mapping;

static bool
write_map (PerfDecoder *self, const Mapping *mapping)
{
  size_t size = sizeof (SysprofCaptureMap) + mapping->path_size + 1;
  size_t whole = mapping->build_id_size > 0 ? size + 1 + 2 * mapping->build_id_size + 1 : size;
  SysprofCaptureMap *map = sysprof_capture_writer_reserve (self->writer, whole);
  char *at;

  if (map == NULL)
    return false;

  init_frame (&map->frame, self->cpu, mapping->pid, mapping->time, SYSPROF_CAPTURE_FRAME_MAP);
  map->start = mapping->start;
  map->end = mapping->start + mapping->size;
  map->offset = mapping->offset;
  map->inode = mapping->inode;
  memcpy (map->filename, mapping->path, mapping->path_size);
  at = map->filename + mapping->path_size;
  *at++ = '\0';
  if (mapping->build_id_size > 0)
    {
      *at++ = '@';
      at = put_hex (at, mapping->build_id, mapping->build_id_size);
      *at++ = '\0';
    }
  sysprof_capture_writer_commit (self->writer, whole);
  return true;
}

/* The kernel marks the path of a file that was replaced as deleted; readers look it up by its
 * original path. */
static void
take_path (Cursor cursor, Mapping *mapping)
{
  mapping->path = (const char *) cursor.at;
  mapping->path_size = strnlen (mapping->path, (size_t) (cursor.end - cursor.at));

  if (mapping->path_size > strlen (DELETED) && mapping->path[0] == '/' &&
      memcmp (mapping->path + mapping->path_size - strlen (DELETED), DELETED,
              strlen (DELETED)) == 0)
    mapping->path_size -= strlen (DELETED);
}

/* The build ID, if any, stays in the record. */
static bool
take_mmap2 (Cursor cursor, uint16_t misc, Mapping *mapping)
{
  RecordId id;
  int32_t tid, protection, flags;
  const uint8_t *file;
  uint64_t inode;

  if (!cut_record_id (&cursor, &id) || !take_two_i32 (&cursor, &mapping->pid, &tid) ||
      !take_u64 (&cursor, &mapping->start) || !take_u64 (&cursor, &mapping->size) ||
      !take_u64 (&cursor, &mapping->offset))
    return false;

  /* Device major and minor, inode and generation; or the build ID's size, three reserved bytes
   * and 20 bytes of build ID. */
  file = cursor.at;
  if (!take_u64 (&cursor, &inode) || !take_u64 (&cursor, &inode) ||
      !take_u64 (&cursor, &(uint64_t){ 0 }) || !take_two_i32 (&cursor, &protection, &flags))
    return false;

  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0)
    {
      if (file[0] > PERF_MOST_BUILD_ID)
        return false;
      mapping->build_id = file + 4;
      mapping->build_id_size = file[0];
    }
  else
    mapping->inode = inode;

  mapping->time = id.time;
  take_path (cursor, mapping);
  if (mapping->path_size > 0 && mapping->path[0] == '[')
    mapping->inode = mapping->offset = 0; /* [vdso] */
  return true;
}

static void
name_mapping (Mapping *mapping, const uint8_t *build_id, size_t size)
{
  mapping->build_id = build_id;
  mapping->build_id_size = size;
  mapping->inode = 0; /* the kernel does not report both either */
}

/* While another session requests build IDs, the kernel marks the mapping records of all
 * sessions as having one. If this session requested inodes, the mark is wrong. */
static uint16_t
misc_of (const PerfDecoder *self, const struct perf_event_header *record)
{
  return self->tell != NULL ? record->misc & (uint16_t) ~PERF_RECORD_MISC_MMAP_BUILD_ID
                            : record->misc;
}

bool
sysprof_perf_decode_mmap2 (PerfDecoder *self, const struct perf_event_header *record)
{
  uint8_t build_id[PERF_MOST_BUILD_ID];
  Mapping mapping = { 0 };
  size_t size;

  if (!take_mmap2 (body_of (record), misc_of (self, record), &mapping))
    return false;

  size = self->tell != NULL ? self->tell (record, self->cpu, build_id, self->tell_data) : 0;
  if (size > 0)
    name_mapping (&mapping, build_id, size);
  sysprof_process_log_mapped (self->log, mapping.pid, mapping.path, mapping.path_size);
  return write_map (self, &mapping);
}

void
sysprof_perf_decoder_write_named (PerfDecoder *self,
                                  const struct perf_event_header *record,
                                  int cpu,
                                  const uint8_t *build_id,
                                  size_t build_id_size)
{
  int before = self->cpu;
  Mapping mapping = { 0 };

  if (!take_mmap2 (body_of (record), misc_of (self, record), &mapping))
    return;

  name_mapping (&mapping, build_id, build_id_size);
  self->cpu = cpu;
  if (!write_map (self, &mapping))
    self->n_dropped_records++;
  self->cpu = before;
}

bool
sysprof_perf_decode_mmap (PerfDecoder *self, Cursor cursor)
{
  RecordId id;
  Mapping mapping = { 0 };
  int32_t tid;

  if (!cut_record_id (&cursor, &id) || !take_two_i32 (&cursor, &mapping.pid, &tid) ||
      !take_u64 (&cursor, &mapping.start) || !take_u64 (&cursor, &mapping.size) ||
      !take_u64 (&cursor, &mapping.offset))
    return false;

  mapping.time = id.time;
  take_path (cursor, &mapping);
  return write_map (self, &mapping);
}

/* --- processes --- */

bool
sysprof_perf_decode_comm (PerfDecoder *self, Cursor cursor, uint16_t misc)
{
  RecordId id;
  SysprofCaptureProcess *process;
  int32_t pid, tid;
  size_t size;

  if (!cut_record_id (&cursor, &id) || !take_two_i32 (&cursor, &pid, &tid))
    return false;

  size = strnlen ((const char *) cursor.at, (size_t) (cursor.end - cursor.at));
  if (self->thread_names != NULL)
    sysprof_thread_names_add_renamed (self->thread_names, id.time, (ThreadId){ pid, tid },
                                      (const char *) cursor.at, size,
                                      (misc & PERF_RECORD_MISC_COMM_EXEC) != 0);
  if (pid != tid)
    return true;

  if ((misc & PERF_RECORD_MISC_COMM_EXEC) != 0)
    {
      sysprof_process_log_started (self->log, pid, id.time);
      if (self->filter != NULL)
        sysprof_user_filter_started (self->filter, pid);
    }

  process = sysprof_capture_writer_reserve (self->writer, sizeof *process + size + 1);
  if (process == NULL)
    return false;

  init_frame (&process->frame, self->cpu, pid, id.time, SYSPROF_CAPTURE_FRAME_PROCESS);
  memcpy (process->cmdline, cursor.at, size);
  process->cmdline[size] = '\0';
  sysprof_capture_writer_commit (self->writer, sizeof *process + size + 1);
  return true;
}

typedef struct
{
  int32_t pid, parent_pid;
  int32_t tid, parent_tid;
  int64_t time;
} Task;

static bool
take_task (Cursor *cursor, Task *task)
{
  uint64_t time;

  if (!take_two_i32 (cursor, &task->pid, &task->parent_pid) ||
      !take_two_i32 (cursor, &task->tid, &task->parent_tid) || !take_u64 (cursor, &time))
    return false;

  task->time = (int64_t) time;
  return true;
}

/* The frame contains the parent's process ID, whichever of its threads forked, because the
 * child inherits from the process. */
bool
sysprof_perf_decode_fork (PerfDecoder *self, Cursor cursor)
{
  Task task;

  if (!take_task (&cursor, &task))
    return false;

  if (self->thread_names != NULL)
    sysprof_thread_names_add_forked (self->thread_names, task.time,
                                     (ThreadId){ task.pid, task.tid },
                                     (ThreadId){ task.parent_pid, task.parent_tid });
  if (self->filter != NULL && task.pid == task.tid)
    sysprof_user_filter_forked (self->filter, task.parent_pid, task.pid);
  return sysprof_capture_writer_add_fork (self->writer, task.time, self->cpu, task.parent_pid,
                                          task.tid);
}

bool
sysprof_perf_decode_exit (PerfDecoder *self, Cursor cursor)
{
  Task task;

  if (!take_task (&cursor, &task))
    return false;

  if (self->thread_names != NULL)
    sysprof_thread_names_add_ended (self->thread_names, task.time,
                                    (ThreadId){ task.pid, task.tid });
  if (task.pid != task.tid)
    return true;

  sysprof_process_log_ended (self->log, task.pid);
  if (self->filter != NULL)
    sysprof_user_filter_ended (self->filter, task.pid);
  return sysprof_capture_writer_add_exit (self->writer, task.time, self->cpu, task.pid);
}

bool
sysprof_perf_decode_namespaces (PerfDecoder *self, Cursor cursor)
{
  Namespaces namespaces = { 0 };
  RecordId id;
  int32_t pid, tid;
  uint64_t n, device;

  if (!cut_record_id (&cursor, &id) || !take_two_i32 (&cursor, &pid, &tid) ||
      !take_u64 (&cursor, &n) || n < N_NAMESPACES)
    return false;
  for (unsigned i = 0; i < N_NAMESPACES; i++)
    if (!take_u64 (&cursor, &device) || !take_u64 (&cursor, &namespaces.inode[i]))
      return false;

  if (pid == tid)
    sysprof_process_log_set_namespaces (self->log, pid, id.time, &namespaces);
  return true;
}

/* --- kernel code --- */

bool
sysprof_perf_decode_kernel_symbol (PerfDecoder *self, Cursor cursor)
{
  struct
  {
    uint32_t size;
    uint16_t type; /* BPF program, or out-of-line code such as trampolines */
    uint16_t flags;
  } what;
  RecordId id;
  uint64_t address;

  if (!cut_record_id (&cursor, &id) || !take_u64 (&cursor, &address) ||
      cursor.end - cursor.at < (ptrdiff_t) sizeof what)
    return false;

  memcpy (&what, cursor.at, sizeof what);
  cursor.at += sizeof what;
  if (self->kernel_symbols != NULL)
    sysprof_kernel_symbol_log_add (self->kernel_symbols, id.time, address, what.size,
                                   (what.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0,
                                   (const char *) cursor.at, (size_t) (cursor.end - cursor.at));
  return true;
}
