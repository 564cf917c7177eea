// SPDX-License-Identifier: BSD-2-Clause

/* Reads a capture frame by frame. The capture may be untrusted or truncated.
 *
 * Frames are validated, have the byte order of the machine, and contain NUL-terminated texts.
 * Damaged frames and frames of unknown type are skipped. An incomplete last frame is ignored.
 * Use a reader from one thread at a time. */

#pragma once

#include "sysprof-capture-types.h"

SYSPROF_BEGIN_DECLS

typedef struct
{
  /*< private >*/
  const void *p1;
  const void *p2;
  unsigned int u1;
  const void *p3;
  const void *p4;
} SysprofCaptureJitmapIter;

/* Returns NULL with errno set on failure: EBADMSG if the file is not a capture. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_reader_new (const char *filename);
/* Takes ownership of the descriptor, also on failure. Does not use or change its position. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_reader_new_from_fd (int fd);
/* Returns an independent reader at the same position. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_reader_copy (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_reader_ref (SysprofCaptureReader *self);
/* The last reference closes the file. NULL is allowed. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_reader_unref (SysprofCaptureReader *self);

/* The byte order of the file: __LITTLE_ENDIAN or __BIG_ENDIAN. */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_capture_reader_get_byte_order (SysprofCaptureReader *self);
/* NULL if the reader was created from a descriptor. */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_capture_reader_get_filename (SysprofCaptureReader *self);
/* The date and time of the recording, ISO 8601. */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_capture_reader_get_time (SysprofCaptureReader *self);
/* The start of the recording, in nanoseconds. */
SYSPROF_AVAILABLE_IN_ALL
int64_t sysprof_capture_reader_get_start_time (SysprofCaptureReader *self);
/* The end of the recording, in nanoseconds. Reads the whole file if the header does not contain
 * it. */
SYSPROF_AVAILABLE_IN_ALL
int64_t sysprof_capture_reader_get_end_time (SysprofCaptureReader *self);

/* Skips a frame. Returns false at the end; a growing capture may have more frames later. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_skip (SysprofCaptureReader *self);
/* Gets the type of the next frame without skipping it. Returns false at the end. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_peek_type (SysprofCaptureReader *self,
                                       SysprofCaptureFrameType *type);
/* Copies the header of the next frame without skipping it. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_peek_frame (SysprofCaptureReader *self, SysprofCaptureFrame *frame);

/* Each function returns the next frame and skips it, or returns NULL if that frame has another
 * type. The frame is valid until the next call. */
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureLog *sysprof_capture_reader_read_log (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureMap *sysprof_capture_reader_read_map (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureMark *sysprof_capture_reader_read_mark (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureMetadata *sysprof_capture_reader_read_metadata (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_45
const SysprofCaptureDBusMessage *
sysprof_capture_reader_read_dbus_message (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureExit *sysprof_capture_reader_read_exit (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureFork *sysprof_capture_reader_read_fork (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureTimestamp *
sysprof_capture_reader_read_timestamp (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureProcess *sysprof_capture_reader_read_process (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureSample *sysprof_capture_reader_read_sample (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_45
const SysprofCaptureTrace *sysprof_capture_reader_read_trace (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureJitmap *sysprof_capture_reader_read_jitmap (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureCounterDefine *
sysprof_capture_reader_read_counter_define (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureCounterSet *
sysprof_capture_reader_read_counter_set (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureFileChunk *sysprof_capture_reader_read_file (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_3_36
const SysprofCaptureAllocation *
sysprof_capture_reader_read_allocation (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_3_40
const SysprofCaptureOverlay *sysprof_capture_reader_read_overlay (SysprofCaptureReader *self);

/* Restarts at the first frame. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_reset (SysprofCaptureReader *self);
/* Appends the remaining frames to `dest` unchanged: counters and addresses are not renumbered.
 */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_splice (SysprofCaptureReader *self, SysprofCaptureWriter *dest);
/* Copies the whole file. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_save_as (SysprofCaptureReader *self, const char *filename);
/* Counts the frames of the whole file by type. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_get_stat (SysprofCaptureReader *self, SysprofCaptureStat *st_buf);
/* Sets the counts, if they are already known. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_reader_set_stat (SysprofCaptureReader *self,
                                      const SysprofCaptureStat *st_buf);

/* Returns the first chunk of an embedded file, or NULL if there is none. It is valid until the
 * next call. */
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureFileChunk *sysprof_capture_reader_find_file (SysprofCaptureReader *self,
                                                                 const char *path);
/* Returns the names of all embedded files, in the order of their first chunks, NULL-terminated.
 * Free the vector with free(); the reader owns the names. Returns NULL with errno set if memory
 * is exhausted. */
SYSPROF_AVAILABLE_IN_ALL
const char **sysprof_capture_reader_list_files (SysprofCaptureReader *self);
/* Writes a complete embedded file to `fd`, which the caller owns. Returns false with errno set
 * on failure, ENOENT if there is no such file. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_read_file_fd (SysprofCaptureReader *self, const char *path, int fd);

/* Starts at the first name. The frame must outlive the iterator, which needs no clean-up. */
SYSPROF_AVAILABLE_IN_3_38
void sysprof_capture_jitmap_iter_init (SysprofCaptureJitmapIter *iter,
                                       const SysprofCaptureJitmap *jitmap);
/* Returns false at the end. The name is valid as long as the frame. */
SYSPROF_AVAILABLE_IN_3_38
bool sysprof_capture_jitmap_iter_next (SysprofCaptureJitmapIter *iter,
                                       SysprofCaptureAddress *addr,
                                       const char **name);

SYSPROF_END_DECLS
