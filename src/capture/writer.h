// SPDX-License-Identifier: BSD-2-Clause

/* What the files of the writer share. */

#pragma once

#include "capture/byte-order.h"
#include "capture/capture.h"

#define SYSPROF_CAPTURE_COUNTER_ID_MAX 0xFFFFFFU

typedef struct JitTable JitTable;

struct _SysprofCaptureWriter
{
  int ref_count; /* atomic */
  int fd;
  bool can_seek; /* the header can be patched */

  uint8_t *buffer;    /* [capacity] whole frames, but see is_torn */
  size_t capacity;    /* bytes */
  size_t buffer_size; /* bytes from which on the buffer is written */
  size_t used;        /* bytes */
  /* the buffer begins in the middle of a frame: its head is in the pipe already */
  bool is_torn;

  SysprofCaptureSink sink; /* NULL = the descriptor */
  void *sink_data;

  uint64_t n_flushed; /* bytes that left the buffer, the header included */
  uint64_t n_frames;
  size_t n_frames_of_type[SYSPROF_CAPTURE_FRAME_LAST];

  unsigned int n_since_index; /* frames */
  uint64_t last_index;        /* offset of the newest frame index, 0 = none */
  bool index_is_buffered;     /* it is at the head of the buffer */
  bool index_is_unpatched;    /* the header does not know it yet */

  int64_t begin;            /* ns, as in the header */
  int64_t end;              /* ns, 0 = when last flushed */
  int64_t joined_end;       /* ns; valid until something else is added */
  uint64_t n_frames_joined; /* 0 = nothing was joined */
  CaptureContents contents; /* of the captures that were appended */

  JitTable *jit_table; /* NULL until a name is added */
  unsigned int next_counter_id;
};

/* Room for a frame, its first `fixed` bytes cleared, its header set. */
uint8_t *sysprof_capture_writer_begin_frame (SysprofCaptureWriter *self,
                                             SysprofCaptureFrameType type,
                                             int64_t time,
                                             int cpu,
                                             int32_t pid,
                                             size_t fixed,
                                             size_t len);

/* Adds a copy of a complete frame in native byte order. */
bool sysprof_capture_writer_add_copy (SysprofCaptureWriter *self,
                                      const SysprofCaptureFrame *frame);

/* Writes the buffer, without names or end time. */
bool sysprof_capture_writer_flush_buffer (SysprofCaptureWriter *self);

/* The end that the header would get now, ns. */
int64_t sysprof_capture_writer_get_end (const SysprofCaptureWriter *self);
/* All frames until now come from other captures, or were added to them: this is their range. */
void sysprof_capture_writer_set_joined_range (SysprofCaptureWriter *self,
                                              int64_t begin,
                                              int64_t end);

/* Puts a whole frame before the buffered ones, where that can be done, else behind them. */
bool
sysprof_capture_writer_add_early (SysprofCaptureWriter *self, const uint8_t *frame, size_t len);

/* Whether it gave an address to a name, or kept one. */
bool sysprof_capture_writer_has_names (const SysprofCaptureWriter *self);

/* Names the synthetic address of another capture; those that are given out next are above
 * it. */
bool sysprof_capture_writer_keep_jitmap (SysprofCaptureWriter *self,
                                         uint64_t address,
                                         const char *name);
void sysprof_capture_writer_free_jitmap (SysprofCaptureWriter *self);

/* Copies as much of `text` (may be NULL) as fits into a cleared field, which then ends in
 * NUL. */
void sysprof_capture_put_text (uint8_t *field, size_t field_size, const char *text);
