// SPDX-License-Identifier: BSD-2-Clause

/* An embedded file in memory, put together from its chunks, and taken apart into them again. */

#pragma once

#include "capture/capture.h"
#include "capture/reader.h"
#include "capture/writer.h"

/* *Owned* by the call that joins. */
typedef struct
{
  uint8_t *bytes; /* [size] */
  size_t size;
  size_t capacity;
} WholeFile;

/* False with errno set: no memory. */
bool sysprof_whole_file_append (WholeFile *self, const void *bytes, size_t size);
void sysprof_whole_file_clear (WholeFile *self);

/* Appends the first file `path` of a capture; nothing if there is none. False with errno set on failure. */
bool sysprof_whole_file_read (WholeFile *self, SysprofCaptureReader *reader, const char *path);

/* The file `name`, or else what is packed in `name`.gz; empty if there is neither. What cannot be unpacked (`unpack` may be NULL) is in
 * `packed` instead, which is empty otherwise. Both are empty before, and the caller's. False with errno set on failure. */
bool sysprof_whole_file_read_unpacked (WholeFile *self,
                                       SysprofCaptureReader *reader,
                                       const char *name,
                                       SysprofCaptureUnpackFunc unpack,
                                       WholeFile *packed);

/* All its chunks in a row, at one time. False with errno set on failure. */
bool sysprof_whole_file_write (const WholeFile *self,
                               SysprofCaptureWriter *writer,
                               int64_t time,
                               const char *path);
