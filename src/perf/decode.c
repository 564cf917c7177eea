// SPDX-License-Identifier: GPL-3.0-or-later

/* Record layouts: see perf_event_open(2), "MMAP layout". Each function reads its record through
 * a cursor that ends where the record ends. A record that is too short for its type is counted
 * and skipped. */

#include "perf/decode.h"

#include "capture/capture.h"
#include "perf/copy.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#define DELETED " (deleted)"
#define MAX_ADDRESSES \
  ((SYSPROF_CAPTURE_FRAME_MAX - sizeof (SysprofCaptureSample)) / sizeof (uint64_t))
#define FETCH_AHEAD 512
#define CACHE_LINE  64

typedef struct
{
  const uint8_t *at; /* 8-aligned, as the kernel writes it */
  const uint8_t *end;
} Cursor;

/* The fields that sample_id_all appends to every record that is not a sample. */
typedef struct
{
  int32_t pid;
  int32_t tid;
  int64_t time;
} RecordId;

static inline bool
take_u64 (Cursor *cursor, uint64_t *value)
{
  if (cursor->end - cursor->at < (ptrdiff_t) sizeof *value)
    return false;

  memcpy (value, cursor->at, sizeof *value);
  cursor->at += sizeof *value;
  return true;
}

static inline bool
take_two_i32 (Cursor *cursor, int32_t *first, int32_t *second)
{
  int32_t both[2];

  if (cursor->end - cursor->at < (ptrdiff_t) sizeof both)
    return false;

  memcpy (both, cursor->at, sizeof both);
  cursor->at += sizeof both;
  *first = both[0];
  *second = both[1];
  return true;
}

/* Removes the ID from the end of the record. */
static bool
cut_record_id (Cursor *cursor, RecordId *id)
{
  if (cursor->end - cursor->at < (ptrdiff_t) sizeof *id)
    return false;

  cursor->end -= sizeof *id;
  memcpy (id, cursor->end, sizeof *id);
  return true;
}

static inline void
init_frame (SysprofCaptureFrame *frame, int cpu, int32_t pid, int64_t time, uint32_t type)
{
  /* Assign the members one by one. Compilers would initialize the struct with a vector
   * instruction, which costs more than all other work for a short frame. */
  frame->len = 0;
  frame->cpu = (int16_t) cpu;
  frame->pid = pid;
  frame->time = time;
  frame->type = type & 0xff;
  frame->padding1 = 0;
  frame->padding2 = 0;
}

/* --- samples --- */

static bool
is_walked (const PerfDecoder *self)
{
  return self->has_walks || self->has_copies;
}

uint64_t
sysprof_truncation_marker (uint64_t marker[WALK_REASONS],
                           WalkReason reason,
                           SysprofCaptureWriter *writer)
{
  char name[64];

  if (marker[reason] == 0)
    {
      snprintf (name, sizeof name, "[stack truncated: %s]",
                sysprof_walk_reason_to_string (reason));
      marker[reason] = sysprof_capture_writer_add_jitmap (writer, name);
    }
  return marker[reason];
}

/* The address that marks a truncated stack; 0 for a complete one. */
static uint64_t
marker_of (PerfDecoder *self, WalkReason reason)
{
  if (!is_walked (self) || sysprof_walk_reason_is_whole (reason))
    return 0;
  return sysprof_truncation_marker (self->marker, reason, self->writer);
}

/* The limit includes the kernel's addresses, but not the context marker. */
static void
cut_to_call_depth (const PerfDecoder *self, WalkedSample *walked)
{
  size_t n_kernel = walked->n_kernel > 0 ? walked->n_kernel - 1 : 0;
  size_t n_user = self->call_depth > n_kernel ? self->call_depth - n_kernel : 0;

  if (!is_walked (self) || self->call_depth == 0 || walked->n_user <= n_user)
    return;
  walked->n_user = n_user;
  walked->reason = WALK_DEPTH;
}

static bool
has_user_chain (const PerfDecoder *self, const WalkedSample *walked)
{
  for (size_t i = 0; self->has_chains && i + 1 < walked->n_kernel; i++)
    if (walked->kernel[i] == (uint64_t) PERF_CONTEXT_USER)
      return true;
  return false;
}

static CaptureFound
how_it_was_found (const PerfDecoder *self, const WalkedSample *walked)
{
  if (!is_walked (self))
    return has_user_chain (self, walked) ? CAPTURE_FOUND_BY_FRAME_POINTERS : CAPTURE_FOUND_NONE;
  if (walked->n_user == 0)
    return CAPTURE_FOUND_NONE;
  if (walked->reason == WALK_NOT_YET || (walked->used & WALK_USED_COMPAT) != 0)
    return CAPTURE_FOUND_BY_FRAME_POINTERS;
  if (walked->is_from_copy || self->has_copies)
    return CAPTURE_FOUND_IN_A_COPY;
  return (walked->used & WALK_USED_FP) != 0 ? CAPTURE_FOUND_BY_BOTH : CAPTURE_FOUND_BY_TABLES;
}

/* The note to store for a sample: CaptureFound, or CAPTURE_FOUND_UNSAID for the usual
 * method. */
static uint8_t
note_of (const PerfDecoder *self, const WalkedSample *walked, CaptureFound found)
{
  const bool is_usual =
      found == CAPTURE_FOUND_NONE || found == CAPTURE_FOUND_BY_BOTH ||
      found == (self->has_copies ? CAPTURE_FOUND_IN_A_COPY : CAPTURE_FOUND_BY_TABLES);

  if (!is_walked (self))
    return CAPTURE_FOUND_UNSAID; /* all by frame pointers */
  if ((walked->used & WALK_USED_FP_FIRST) != 0)
    return (uint8_t) found | CAPTURE_FOUND_BY_FP_FIRST;
  return is_usual ? CAPTURE_FOUND_UNSAID : (uint8_t) found;
}

static void
tally_sample (PerfDecoder *self, const WalkedSample *walked)
{
  CaptureFound found = how_it_was_found (self, walked);
  uint8_t note = note_of (self, walked, found);

  sysprof_stack_tally_count (self->tally, walked->pid, found);
  if (note != CAPTURE_FOUND_UNSAID)
    sysprof_stack_tally_note (self->tally, walked->time, walked->tid, note);
}

/* Prefetches the memory of the next frames. */
static inline void
fetch_ahead (const void *frame, size_t size)
{
  const char *at = (const char *) frame + FETCH_AHEAD;

  for (size_t offset = 0; offset < size; offset += CACHE_LINE)
    __builtin_prefetch (at + offset, 1);
}

/* Writes one sample. A stack deeper than `call_depth` is truncated. */
static bool
write_sample (PerfDecoder *self, WalkedSample *walked)
{
  static const uint64_t user_context = (uint64_t) PERF_CONTEXT_USER;
  SysprofCaptureSample *sample;
  SysprofCaptureAddress *at;
  bool has_user_part;
  uint64_t marker;
  size_t n, size;

  cut_to_call_depth (self, walked);
  marker = marker_of (self, walked->reason);
  has_user_part = walked->n_user > 0 || marker != 0;
  n = walked->n_kernel + has_user_part + walked->n_user + (marker != 0);
  size = sizeof (SysprofCaptureSample) + n * sizeof (uint64_t);
  if (n > MAX_ADDRESSES)
    return false;

  sample = sysprof_capture_writer_reserve (self->writer, size);
  if (sample == NULL)
    return false;

  fetch_ahead (sample, size);
  init_frame (&sample->frame, walked->cpu, walked->pid, walked->time,
              SYSPROF_CAPTURE_FRAME_SAMPLE);
  sample->n_addrs = n & 0xffff;
  sample->padding1 = 0;
  sample->tid = walked->tid;
  at = sample->addrs;
  memcpy (at, walked->kernel, walked->n_kernel * sizeof *at);
  at += walked->n_kernel;
  if (has_user_part)
    *at++ = user_context;
  if (walked->n_user > 0)
    memcpy (at, walked->user, walked->n_user * sizeof *at);
  at += walked->n_user;
  if (marker != 0)
    *at++ = marker;
  sysprof_capture_writer_commit (self->writer, size);
  self->n_walks[walked->reason]++;
  if (self->tally != NULL)
    tally_sample (self, walked);
  return true;
}

/* The context marker that a call chain of this sample would start with. */
static uint64_t
context_of (uint16_t misc)
{
  switch (misc & PERF_RECORD_MISC_CPUMODE_MASK)
    {
    case PERF_RECORD_MISC_KERNEL:
      return (uint64_t) PERF_CONTEXT_KERNEL;
    case PERF_RECORD_MISC_HYPERVISOR:
      return (uint64_t) PERF_CONTEXT_HV;
    case PERF_RECORD_MISC_GUEST_KERNEL:
      return (uint64_t) PERF_CONTEXT_GUEST_KERNEL;
    case PERF_RECORD_MISC_GUEST_USER:
      return (uint64_t) PERF_CONTEXT_GUEST_USER;
    default:
      return (uint64_t) PERF_CONTEXT_USER;
    }
}

/* The raw part: a 32-bit size, then a WalkRecord. */
static bool
take_walk (Cursor cursor, WalkedSample *sample)
{
  struct
  {
    uint32_t size;
    uint8_t reason;
    uint8_t used;
    uint16_t n;
  } head;

  if (cursor.end - cursor.at < (ptrdiff_t) sizeof head)
    return false;

  memcpy (&head, cursor.at, sizeof head);
  cursor.at += sizeof head;
  if (head.reason >= WALK_REASONS ||
      head.n > (uint64_t) (cursor.end - cursor.at) / sizeof (uint64_t))
    return false;

  sample->reason = head.reason;
  sample->used = head.used;
  sample->user = (const uint64_t *) (const void *) cursor.at;
  sample->n_user = head.n;
  if ((head.used & WALK_HAS_REST) == 0 || head.n == 0)
    return true;

  cursor.at += head.n * sizeof (uint64_t);
  sample->rest = (const WalkRest *) (const void *) cursor.at;
  if (cursor.end - cursor.at < (ptrdiff_t) sizeof *sample->rest ||
      sample->rest->size > (uint64_t) (cursor.end - cursor.at) - sizeof *sample->rest)
    return false;

  sample->stack = (const uint8_t *) (sample->rest + 1);
  sample->is_cut = sample->rest->size == WALK_REST_SIZE;
  return true;
}

static bool
take_raw (Cursor *cursor, WalkedSample *sample)
{
  uint64_t left = (uint64_t) (cursor->end - cursor->at);
  Cursor raw = *cursor;
  uint32_t size;

  if (left < sizeof size)
    return false;
  memcpy (&size, cursor->at, sizeof size);
  if (size > left - sizeof size)
    return false;

  raw.end = cursor->at + sizeof size + size;
  cursor->at = raw.end;
  return take_walk (raw, sample);
}

/* Stores the rest in `rest`, to which `sample` then points. */
static bool
take_copy (Cursor *cursor, uint16_t misc, WalkRest *rest, WalkedSample *sample)
{
  bool is_in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
  PerfCopy copy;

  if (!sysprof_perf_copy_take (&copy, &cursor->at, cursor->end))
    return false;

  /* While the kernel works for a program, the program's stack exists, unless exec has already
   * discarded the old one and not yet set up the new one. */
  if (copy.kind == PERF_COPY_NONE)
    sample->reason = WALK_KERNEL_THREAD;
  else if (is_in_kernel && copy.size == 0)
    sample->reason = WALK_IN_EXEC;
  if (sample->reason != WALK_RUNNING)
    return true;

  *rest = (WalkRest){
    .ip = copy.ip,
    .sp = copy.sp,
    .fp = copy.fp,
    .lr = copy.lr,
    .flags = WALK_REST_IS_EXACT | WALK_REST_HAS_REGISTERS,
    .size = copy.size,
  };
  memcpy (rest->registers, copy.registers, sizeof rest->registers);
  sample->user = &rest->ip;
  sample->n_user = 1;
  if (copy.kind == PERF_COPY_32_BITS)
    {
      sample->reason = WALK_COMPAT;
      return true;
    }

  sample->reason = WALK_OVERLOAD; /* unless TakePendingFunc takes it */
  sample->rest = rest;
  sample->stack = copy.stack;
  sample->is_cut = copy.is_cut;
  return true;
}

/* Before the program was attached, the kernel followed frame pointers. Whether it reached the
 * end of the stack is unknown. */
static void
take_chain (WalkedSample *sample)
{
  size_t n = 0;

  while (n < sample->n_kernel && sample->kernel[n] != (uint64_t) PERF_CONTEXT_USER)
    n++;
  if (n + 1 >= sample->n_kernel)
    {
      sample->n_kernel = n;
      sample->reason = WALK_KERNEL_THREAD; /* or in exec: there is no user stack */
      return;
    }

  sample->user = sample->kernel + n + 1;
  sample->n_user = sample->n_kernel - n - 1;
  sample->n_kernel = n;
  sample->reason = WALK_NOT_YET;
}

/* In the BPF program's records a raw part precedes the cgroup. */
static bool
take_user_part (const PerfDecoder *self, Cursor *cursor, WalkedSample *sample)
{
  ptrdiff_t behind = self->cgroups != NULL ? (ptrdiff_t) sizeof (uint64_t) : 0;

  if (cursor->end - cursor->at > behind)
    return take_raw (cursor, sample);

  take_chain (sample);
  return true;
}

/* Assign the members one by one, as in init_frame(). */
static inline void
init_sample (WalkedSample *sample, int cpu)
{
  sample->cpu = cpu;
  sample->user = NULL;
  sample->n_user = 0;
  sample->reason = WALK_RUNNING;
  sample->used = 0;
  sample->is_from_copy = false;
  sample->rest = NULL;
  sample->stack = NULL;
  sample->is_cut = false;
}

static bool
decode_sample (PerfDecoder *self, Cursor cursor, uint16_t misc)
{
  uint64_t ip, time, cgroup, event_id = 0, period = 0, n_addresses = 0;
  uint64_t made_chain[2];
  WalkedSample sample;
  WalkRest rest;

  init_sample (&sample, self->cpu);
  if (!take_u64 (&cursor, &ip) || !take_two_i32 (&cursor, &sample.pid, &sample.tid) ||
      !take_u64 (&cursor, &time) ||
      (self->ledger != NULL &&
       (!take_u64 (&cursor, &event_id) || !take_u64 (&cursor, &period))) ||
      (self->has_chains && !take_u64 (&cursor, &n_addresses)) ||
      n_addresses > (uint64_t) (cursor.end - cursor.at) / sizeof (uint64_t))
    return false;

  /* Skip the idle task and other users' processes. */
  if (sample.pid == 0 ||
      (self->filter != NULL && !sysprof_user_filter_accepts (self->filter, sample.pid)))
    return true;

  sample.time = (int64_t) time;
  sample.kernel = (const uint64_t *) (const void *) cursor.at;
  sample.n_kernel = n_addresses;
  cursor.at += n_addresses * sizeof (uint64_t);
  if ((self->has_walks && !take_user_part (self, &cursor, &sample)) ||
      (self->has_copies && !take_copy (&cursor, misc, &rest, &sample)))
    return false;
  if (self->cgroups != NULL)
    {
      if (!take_u64 (&cursor, &cgroup))
        return false;
      if (!sysprof_cgroup_filter_accepts (self->cgroups, cgroup))
        return true;
    }
  if (n_addresses > MAX_ADDRESSES || self->drops_samples)
    return false;

  if (sample.n_kernel == 0 && sample.n_user == 0)
    {
      if (self->drops_chainless)
        return true;
      made_chain[0] = context_of (misc);
      made_chain[1] = ip;
      sample.kernel = made_chain;
      sample.n_kernel = 2;
    }

  if (self->ledger != NULL && !sysprof_event_ledger_note (self->ledger, self->writer, event_id,
                                                          sample.time, sample.tid, period))
    return false;
  if (sample.rest != NULL && self->take_unfinished != NULL &&
      self->take_unfinished (&sample, self->take_data))
    return true;
  self->n_without_copy += sample.reason == WALK_NO_TABLE || sample.reason == WALK_NO_PROCESS;
  return write_sample (self, &sample);
}

void
sysprof_perf_decoder_write (PerfDecoder *self, const WalkedSample *sample)
{
  WalkedSample copy = *sample;

  if (!write_sample (self, &copy))
    self->n_dropped_samples++;
}

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

static Cursor
body_of (const struct perf_event_header *record)
{
  return (Cursor){ (const uint8_t *) (record + 1), (const uint8_t *) record + record->size };
}

/* While another session requests build IDs, the kernel marks the mapping records of all
 * sessions as having one. If this session requested inodes, the mark is wrong. */
static uint16_t
misc_of (const PerfDecoder *self, const struct perf_event_header *record)
{
  return self->tell != NULL ? record->misc & (uint16_t) ~PERF_RECORD_MISC_MMAP_BUILD_ID
                            : record->misc;
}

static bool
decode_mmap2 (PerfDecoder *self, const struct perf_event_header *record)
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

static bool
decode_mmap (PerfDecoder *self, Cursor cursor)
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

static bool
decode_comm (PerfDecoder *self, Cursor cursor, uint16_t misc)
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
static bool
decode_fork (PerfDecoder *self, Cursor cursor)
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

static bool
decode_exit (PerfDecoder *self, Cursor cursor)
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

static bool
decode_namespaces (PerfDecoder *self, Cursor cursor)
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

static bool
decode_kernel_symbol (PerfDecoder *self, Cursor cursor)
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

/* --- losses --- */

static bool
decode_lost (PerfDecoder *self, Cursor cursor)
{
  uint64_t event_id, n;

  if (!take_u64 (&cursor, &event_id) || !take_u64 (&cursor, &n))
    return false;

  self->n_kernel_lost += n;
  return true;
}

static bool
decode_lost_samples (PerfDecoder *self, Cursor cursor)
{
  uint64_t n;

  if (!take_u64 (&cursor, &n))
    return false;

  self->n_dropped_samples += n;
  return true;
}

/* Finds the event with this kernel ID. FALSE: none of this session. */
static bool
find_event (const PerfDecoder *self, uint64_t id, unsigned *event)
{
  *event = 0;
  return self->ledger == NULL || sysprof_event_ledger_find (self->ledger, id, event);
}

/* Counts the sample that was suppressed when throttling began. The others can be estimated only
 * when it ends, and only if `throttled` has room for the event. */
static void
begin_throttled (PerfDecoder *self, uint64_t stream, int64_t time)
{
  ThrottledEvents *throttled = self->throttled;

  self->n_throttled++;
  for (unsigned i = 0; throttled != NULL && i < throttled->n; i++)
    if (throttled->event[i].stream == stream)
      return;
  if (throttled == NULL || throttled->n == G_N_ELEMENTS (throttled->event))
    return;
  throttled->event[throttled->n].stream = stream;
  throttled->event[throttled->n++].since = time;
}

/* Returns when throttling began; 0 = unknown. */
static int64_t
end_throttled (ThrottledEvents *throttled, uint64_t stream)
{
  for (unsigned i = 0; throttled != NULL && i < throttled->n; i++)
    if (throttled->event[i].stream == stream)
      {
        int64_t since = throttled->event[i].since;

        throttled->event[i] = throttled->event[--throttled->n];
        return since;
      }
  return 0;
}

static bool
decode_throttle (PerfDecoder *self, Cursor cursor, bool begins)
{
  uint64_t time, id, stream;
  unsigned event;
  int64_t since;

  if (!take_u64 (&cursor, &time) || !take_u64 (&cursor, &id) || !take_u64 (&cursor, &stream))
    return false;

  if (begins)
    {
      begin_throttled (self, stream, (int64_t) time);
      return true;
    }

  since = end_throttled (self->throttled, stream);
  if (since != 0 && (int64_t) time > since && find_event (self, id, &event) &&
      self->nsec_per_sample[event] > 0)
    self->n_throttled += (uint64_t) (((int64_t) time - since) / self->nsec_per_sample[event]);
  return true;
}

static void
tell (PerfDecoder *self, const struct perf_event_header *record)
{
  uint8_t build_id[PERF_MOST_BUILD_ID];

  if (self->tell != NULL)
    (void) self->tell (record, self->cpu, build_id, self->tell_data);
}

static bool
decode (PerfDecoder *self, const struct perf_event_header *record)
{
  Cursor cursor = body_of (record);

  switch (record->type)
    {
    case PERF_RECORD_SAMPLE:
      return decode_sample (self, cursor, record->misc);
    case PERF_RECORD_MMAP2:
      return decode_mmap2 (self, record);
    case PERF_RECORD_MMAP:
      return decode_mmap (self, cursor);
    case PERF_RECORD_COMM:
      tell (self, record);
      return decode_comm (self, cursor, record->misc);
    case PERF_RECORD_FORK:
      tell (self, record);
      return decode_fork (self, cursor);
    case PERF_RECORD_EXIT:
      tell (self, record);
      return decode_exit (self, cursor);
    case PERF_RECORD_NAMESPACES:
      return decode_namespaces (self, cursor);
    case PERF_RECORD_KSYMBOL:
      return decode_kernel_symbol (self, cursor);
    case PERF_RECORD_LOST:
      tell (self, record);
      return decode_lost (self, cursor);
    case PERF_RECORD_LOST_SAMPLES:
      return decode_lost_samples (self, cursor);
    case PERF_RECORD_THROTTLE:
      return decode_throttle (self, cursor, true);
    case PERF_RECORD_UNTHROTTLE:
      return decode_throttle (self, cursor, false);
    default:
      return true; /* newer kernels have further record types */
    }
}

void
sysprof_perf_decode (const struct perf_event_header *record, void *data)
{
  PerfDecoder *self = data;

  if (record->size >= sizeof *record && decode (self, record))
    return;

  if (record->type == PERF_RECORD_SAMPLE)
    self->n_dropped_samples++;
  else
    self->n_dropped_records++;
}
