// SPDX-License-Identifier: BSD-2-Clause

/* Reads a capture frame by frame, whoever made it and wherever it was cut.
 *
 * Frames are handed out in the byte order of the machine, checked, with texts that end in NUL. Frames of unknown type and
 * damaged ones are left out. A capture that ends in the middle of a frame ends before it. One thread at a time.
 */

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

/* NULL with errno set on failure: EBADMSG if it is not a capture. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_reader_new (const char *filename);
/* Takes the descriptor over, also on failure. Its position is neither used nor changed. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_reader_new_from_fd (int fd);
/* An independent reader at the same position. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_reader_copy (SysprofCaptureReader *self);
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_reader_ref (SysprofCaptureReader *self);
/* The last one closes the file. NULL is allowed. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_reader_unref (SysprofCaptureReader *self);

/* __LITTLE_ENDIAN or __BIG_ENDIAN, of the file. */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_capture_reader_get_byte_order (SysprofCaptureReader *self);
/* NULL if the reader was made from a descriptor. */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_capture_reader_get_filename (SysprofCaptureReader *self);
/* When the capture was made, ISO 8601. */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_capture_reader_get_time (SysprofCaptureReader *self);
/* Nanoseconds. */
SYSPROF_AVAILABLE_IN_ALL
int64_t sysprof_capture_reader_get_start_time (SysprofCaptureReader *self);
/* Nanoseconds; found by reading the whole file where the header does not know it. */
SYSPROF_AVAILABLE_IN_ALL
int64_t sysprof_capture_reader_get_end_time (SysprofCaptureReader *self);

/* False at the end. A capture that still grows may have more later. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_skip (SysprofCaptureReader *self);
/* The type of the next frame, without stepping over it; false at the end. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_peek_type (SysprofCaptureReader *self,
                                       SysprofCaptureFrameType *type);
/* Copies the header of the next frame. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_peek_frame (SysprofCaptureReader *self, SysprofCaptureFrame *frame);

/* Each gives the next frame and steps over it, or NULL if that is of another type. The frame stays valid until the
 * next call. */
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

/* Back to the first frame. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_reset (SysprofCaptureReader *self);
/* Appends the remaining frames to `dest` as they are: neither counters nor addresses are renumbered. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_splice (SysprofCaptureReader *self, SysprofCaptureWriter *dest);
/* Copies the whole file. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_save_as (SysprofCaptureReader *self, const char *filename);
/* Counts the frames of the whole file by type. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_get_stat (SysprofCaptureReader *self, SysprofCaptureStat *st_buf);
/* Makes known what is already counted. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_reader_set_stat (SysprofCaptureReader *self,
                                      const SysprofCaptureStat *st_buf);

/* The first chunk of an embedded file, NULL if there is none. Valid until the next call. */
SYSPROF_AVAILABLE_IN_ALL
const SysprofCaptureFileChunk *sysprof_capture_reader_find_file (SysprofCaptureReader *self,
                                                                 const char *path);
/* The names of all embedded files, in the order of their first chunks, ended by NULL. The vector is to be freed with
 * free(); the names belong to the reader. NULL with errno set when memory is short. */
SYSPROF_AVAILABLE_IN_ALL
const char **sysprof_capture_reader_list_files (SysprofCaptureReader *self);
/* Writes a whole embedded file to `fd` (borrowed). False with errno set, ENOENT if there is no such file. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_reader_read_file_fd (SysprofCaptureReader *self, const char *path, int fd);

/* Begins at the first name. The frame must outlive the iterator, which holds nothing to be freed. */
SYSPROF_AVAILABLE_IN_3_38
void sysprof_capture_jitmap_iter_init (SysprofCaptureJitmapIter *iter,
                                       const SysprofCaptureJitmap *jitmap);
/* False at the end. The name lives as long as the frame. */
SYSPROF_AVAILABLE_IN_3_38
bool sysprof_capture_jitmap_iter_next (SysprofCaptureJitmapIter *iter,
                                       SysprofCaptureAddress *addr,
                                       const char **name);

SYSPROF_END_DECLS
