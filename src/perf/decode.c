// SPDX-License-Identifier: GPL-3.0-or-later

/* Record layouts: see perf_event_open(2), "MMAP layout". Each function reads its record through
 * a cursor that ends where the record ends. A record that is too short for its type is counted
 * and skipped. */

#include "perf/decode.h"

#include "capture/capture.h"
#include "perf/copy.h"
#include "perf/decode-private.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define MAX_ADDRESSES \
  ((SYSPROF_CAPTURE_FRAME_MAX - sizeof (SysprofCaptureSample)) / sizeof (uint64_t))
#define FETCH_AHEAD 512
#define CACHE_LINE  64

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
      return sysprof_perf_decode_mmap2 (self, record);
    case PERF_RECORD_MMAP:
      return sysprof_perf_decode_mmap (self, cursor);
    case PERF_RECORD_COMM:
      tell (self, record);
      return sysprof_perf_decode_comm (self, cursor, record->misc);
    case PERF_RECORD_FORK:
      tell (self, record);
      return sysprof_perf_decode_fork (self, cursor);
    case PERF_RECORD_EXIT:
      tell (self, record);
      return sysprof_perf_decode_exit (self, cursor);
    case PERF_RECORD_NAMESPACES:
      return sysprof_perf_decode_namespaces (self, cursor);
    case PERF_RECORD_KSYMBOL:
      return sysprof_perf_decode_kernel_symbol (self, cursor);
    case PERF_RECORD_LOST:
      tell (self, record);
      return sysprof_perf_decode_lost (self, cursor);
    case PERF_RECORD_LOST_SAMPLES:
      return sysprof_perf_decode_lost_samples (self, cursor);
    case PERF_RECORD_THROTTLE:
      return sysprof_perf_decode_throttle (self, cursor, true);
    case PERF_RECORD_UNTHROTTLE:
      return sysprof_perf_decode_throttle (self, cursor, false);
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
