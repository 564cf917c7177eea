// SPDX-License-Identifier: BSD-2-Clause

/* capture: reads and writes capture frames, in plain C, for any program.
 *
 * The public headers (sysprof-capture.h) are the interface. This header adds what the recorder,
 * the store and the commands need beyond them. None of it is exported.
 *
 *   frame-layout.c       one table of frame types: sizes, integers to swap, variable parts;
 *                        the first bytes of each capture
 *   reader.c             frame by frame, checked and in native byte order
 *   reader-files.c       embedded files: list, find, read
 *   writer.c             buffer, header, end time, frame index, sink
 *   writer-frames.c      one short add_… per frame type
 *   writer-jitmap.c      names → addresses          writer-counters.c   ids, definitions, values
 *   splice.c             appends captures; translate.c renumbers, capture-contents.c lists the contents of one
 *   save.c               copies of complete files
 *   cursor.c, condition.c   filtered iteration
 *   ring.c, control.c    single-producer ring in shared memory; the socket that passes it to programs
 *   trace-file.c         appends to the capture that SYSPROF_TRACE_FD names
 *   collector.c          the functions that instrumented programs call
 *   collector-thread.c   the ring of each thread of such a program
 *   clock.c, platform.c  time source, page size, memfd, descriptors that the environment names
 *
 * Readers and writers are *owned*: one thread at a time. On failure, functions return false,
 * NULL or 0 with errno set. A failed allocation never aborts, because this code runs in other
 * programs. */

#pragma once

#include "capture/translate.h"

#include <sysprof-capture.h>

/* ---- frame layouts ---- */

#define SYSPROF_CAPTURE_FRAME_MAX 65528 /* largest `len` */

/* The unwind method of samples, in the embedded file of that name: 16 bytes for each sample
 * that differs from the capture's metadata: i64 time, i32 thread, u8 CaptureFound, 3 bytes
 * of 0; little endian. docs/format.md */
#define CAPTURE_FOUND_FILE "__found__"
#define CAPTURE_FOUND_SIZE 16
typedef enum
{
  CAPTURE_FOUND_UNSAID,
  CAPTURE_FOUND_BY_TABLES,
  CAPTURE_FOUND_BY_BOTH,           /* tables, and frame pointers where there are none */
  CAPTURE_FOUND_BY_FRAME_POINTERS, /* by the kernel */
  CAPTURE_FOUND_IN_A_COPY,         /* of the stack, with tables */
  CAPTURE_FOUND_NONE,              /* there is no user part */
  N_CAPTURE_FOUND,
  CAPTURE_FOUND_MASK = 7,

  /* The first step was one by frame pointer: the caller of the innermost function may be
   * missing. */
  CAPTURE_FOUND_BY_FP_FIRST = 8,
} CaptureFound;

/* What samples were taken on, a line each: NUMBER UNIT PERIOD NAME, the unit "ns" or "count";
 * the period "-" where it is that of each sample: then the other file has 24 bytes for each,
 * i64 time, u64 period, i32 thread, u8 number, 3 bytes of 0; little endian. docs/format.md */
#define CAPTURE_EVENTS_FILE  "__events__"
#define CAPTURE_PERIODS_FILE "__periods__"
#define CAPTURE_PERIODS_SIZE 24

/* Where threads waited: docs/format.md. */
#define CAPTURE_WAITS_FILE "__waits__"

/* Names of threads, and since when they have them: docs/format.md. */
#define CAPTURE_THREADS_FILE "__threads__"

/* Whether the first `available` bytes of `frame` contain a complete frame with valid lengths
 * and counts. `swapped`: its integers have the other byte order. A frame of unknown type is
 * valid if its header is. Texts may lack a NUL: read them with a bound. */
bool sysprof_capture_frame_validate (const uint8_t *frame, size_t available, bool swapped);

/* Turns a frame of the other byte order, that was validated, into one of this machine,
 * bit-fields included. */
void sysprof_capture_frame_swap (uint8_t *frame);

/* Ends every text of a valid frame of this byte order with a NUL inside its field. */
void sysprof_capture_frame_end_texts (uint8_t *frame);

/* `len` of the frame, 0 if its header is damaged. */
size_t sysprof_capture_frame_length (const uint8_t *frame, size_t available, bool swapped);

/* Whether a valid frame is a frame index: bookkeeping, not data. */
bool sysprof_capture_frame_is_index (const uint8_t *frame, bool swapped);

static inline bool
sysprof_capture_frame_type_is_known (uint8_t type)
{
  return type > 0 && type < SYSPROF_CAPTURE_FRAME_LAST;
}

/* State (mappings, names, definitions) stays true after its time; an event happened once. */
bool sysprof_capture_frame_type_is_state (uint8_t type);

/* ---- the recorder's side of a writer ---- */

/* Where full buffers go. The sink takes `buffer`, whose first `size` bytes are whole frames,
 * and gives an empty one of the same capacity (sysprof_capture_writer_get_capacity()),
 * page-aligned or at least 8-aligned and from malloc() or aligned_alloc(); it may give the same
 * one back. NULL with errno set = failed: the writer keeps buffer and bytes, and tries again
 * later. */
typedef uint8_t *(*SysprofCaptureSink) (uint8_t *buffer, size_t size, void *data);

/* NULL = write to the descriptor, which is the default. Flush before changing it. With a
 * sink, the position of its bytes in the file is unknown; so the offset of the frame index
 * is patched into the header only when the sink is removed. */
void sysprof_capture_writer_set_sink (SysprofCaptureWriter *self,
                                      SysprofCaptureSink sink,
                                      void *data);

/* Bytes that a buffer holds: more than the buffer size, so that the largest frame fits. */
size_t sysprof_capture_writer_get_capacity (SysprofCaptureWriter *self);

/* Writes `size` bytes to `fd`, waiting where the descriptor does not block. On failure false
 * with errno set; `*written` says how much was written, always. */
bool sysprof_capture_write_all (int fd, const uint8_t *bytes, size_t size, size_t *written);

/* Writes `size` bytes of whole frames to `fd`, waiting where the descriptor does not block. On
 * failure false with errno set; `*written` (always set) then ends at a frame's end where the
 * descriptor can be truncated, and is what was written where not. */
bool sysprof_capture_write_frames (int fd, const uint8_t *frames, size_t size, size_t *written);

/* Writes begin and end (ns) to the header, now; does nothing where the descriptor cannot seek.
 * A flush later replaces the end by its own time unless `end` was given here as not 0. */
bool
sysprof_capture_writer_set_time_range (SysprofCaptureWriter *self, int64_t begin, int64_t end);

/* Bytes of the capture so far, those in the buffer included. */
uint64_t sysprof_capture_writer_get_size (SysprofCaptureWriter *self);
/* Frames added so far, of any type. */
uint64_t sysprof_capture_writer_get_n_frames (SysprofCaptureWriter *self);
/* Borrowed. */
int sysprof_capture_writer_get_fd (SysprofCaptureWriter *self);

/* Room for one frame of at most `len` bytes, 8-aligned, in the buffer itself; NULL with errno
 * set if it cannot be had. The caller writes a frame there, its `len` excepted, every byte of
 * it, and commits; reserving again instead gives the room back. */
void *sysprof_capture_writer_reserve (SysprofCaptureWriter *self, size_t len);
/* `len`: bytes of the frame before padding, ≤ those reserved. Sets the frame's length, clears
 * its padding and counts it. */
void sysprof_capture_writer_commit (SysprofCaptureWriter *self, size_t len);

/* ---- reading ---- */

/* Like peek, but also gives unknown types and the frame index; damaged frames never. NULL at
 * the end. The bytes are native unless the type is unknown. NULL with errno if the file cannot
 * be read: sysprof_capture_reader_get_status() has the error. Valid until the next call. */
const SysprofCaptureFrame *sysprof_capture_reader_next_any (SysprofCaptureReader *self);

typedef struct
{
  uint64_t n_unknown;  /* frames of a type that the format does not have */
  uint64_t n_damaged;  /* frames whose lengths contradict each other: left out */
  uint64_t end_offset; /* where reading ended */
  bool is_cut;         /* that is not the end of the file */
  int error;           /* errno of a read that failed; 0: none did */
} SysprofCaptureReadStatus;

/* Nothing is read of the file behind `end` (bytes), which is where it ended when somebody
 * looked: it may grow. */
void sysprof_capture_reader_set_end (SysprofCaptureReader *self, uint64_t end);

/* What was left out until now. */
void sysprof_capture_reader_get_status (SysprofCaptureReader *self,
                                        SysprofCaptureReadStatus *status);

/* ---- what is handed to a program ---- */

/* Number of the descriptor of a capture file that the program may write. */
#define SYSPROF_TRACE_FD_VARIABLE "SYSPROF_TRACE_FD"

/* Fills in the header of a capture that begins at `begin` (ns) and has no frames yet. */
void sysprof_capture_header_init (SysprofCaptureFileHeader *header, int64_t begin);

/* The number in the environment variable `name`, if it is a descriptor's and at least `first`;
 * else -1. Whether it is open is not looked at. */
int sysprof_capture_descriptor_from_env (const char *name, int first);
