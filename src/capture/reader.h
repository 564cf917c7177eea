// SPDX-License-Identifier: BSD-2-Clause

/* What the files of the reader share. */

#pragma once

#include "capture/byte-order.h"
#include "capture/capture.h"

typedef struct FileNames FileNames;

struct _SysprofCaptureReader
{
  int ref_count; /* atomic */
  int fd;
  char *filename;                  /* NULL if made from a descriptor */
  SysprofCaptureFileHeader header; /* in native byte order */
  bool is_swapped;                 /* the file is of the other byte order */

  uint8_t *buffer;                /* a piece of the file */
  size_t at;                      /* of the next frame in the buffer */
  size_t used;                    /* bytes in the buffer */
  uint64_t buffer_end;            /* where in the file the buffer ends */
  uint64_t end;                   /* what is behind it is not read */
  bool is_ready;                  /* the next frame is whole, checked and native */
  bool is_at_end;                 /* the last look found no whole frame */
  SysprofCaptureReader *original; /* referenced; whose copy this is, NULL if it is none */
  int error; /* atomic: errno of the first read that failed, here or in a copy */

  int64_t last_time; /* largest seen, ns; the ends of marks included */
  uint64_t n_unknown;
  uint64_t n_damaged;

  bool has_stat;
  SysprofCaptureStat stat;
  FileNames *file_names; /* NULL until used */
};

/* The next frame of a known type, which is then the reader's next. NULL at the end. */
SysprofCaptureFrame *sysprof_capture_reader_peek_known (SysprofCaptureReader *self);

/* Over the frame that was looked at. */
void sysprof_capture_reader_step (SysprofCaptureReader *self);

/* Offset in the file of the next frame, and the way back to one. */
uint64_t sysprof_capture_reader_tell (const SysprofCaptureReader *self);
void sysprof_capture_reader_seek (SysprofCaptureReader *self, uint64_t offset);

void sysprof_capture_reader_free_file_names (SysprofCaptureReader *self);

/* Copies the file behind `fd` to `filename`, replacing what is there. */
bool sysprof_capture_copy_file (int fd, const char *filename);
