// SPDX-License-Identifier: GPL-3.0-or-later

/* The cursor over a perf record, and the decoders of the types of records. They return FALSE if
 * the record is too short or the frame could not be written. */

#pragma once

#include "perf/decode.h"

#include <stddef.h>
#include <string.h>

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
static inline bool
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

static inline Cursor
body_of (const struct perf_event_header *record)
{
  return (Cursor){ (const uint8_t *) (record + 1), (const uint8_t *) record + record->size };
}

/* --- decode-processes.c --- */

bool sysprof_perf_decode_mmap2 (PerfDecoder *self, const struct perf_event_header *record);
bool sysprof_perf_decode_mmap (PerfDecoder *self, Cursor cursor);
bool sysprof_perf_decode_comm (PerfDecoder *self, Cursor cursor, uint16_t misc);
bool sysprof_perf_decode_fork (PerfDecoder *self, Cursor cursor);
bool sysprof_perf_decode_exit (PerfDecoder *self, Cursor cursor);
bool sysprof_perf_decode_namespaces (PerfDecoder *self, Cursor cursor);
bool sysprof_perf_decode_kernel_symbol (PerfDecoder *self, Cursor cursor);

/* --- decode-losses.c --- */

bool sysprof_perf_decode_lost (PerfDecoder *self, Cursor cursor);
bool sysprof_perf_decode_lost_samples (PerfDecoder *self, Cursor cursor);
bool sysprof_perf_decode_throttle (PerfDecoder *self, Cursor cursor, bool begins);
