// SPDX-License-Identifier: BSD-2-Clause

/* An embedded file in memory: assembled from its chunks, and written as chunks again. */

#pragma once

#include "join/join.h"

/* *Owned* by the function that joins. */
typedef struct
{
  uint8_t *bytes; /* [size] */
  size_t size;
  size_t capacity;
} AssembledFile;

/* False with errno set: no memory. */
bool sysprof_assembled_file_append (AssembledFile *self, const void *bytes, size_t size);
void sysprof_assembled_file_clear (AssembledFile *self);

/* Appends the first file `path` of a capture, if there is one. False with errno set on
 * failure. */
bool sysprof_assembled_file_read (AssembledFile *self,
                                  SysprofCaptureReader *reader,
                                  const char *path);

/* Reads the file `name`, or decompresses `name`.gz; empty if there is neither. If `name`.gz
 * cannot be decompressed, or `unpack` is NULL, its data are in `packed` instead. The caller
 * passes both empty and clears them. False with errno set on failure. */
bool sysprof_assembled_file_read_unpacked (AssembledFile *self,
                                           SysprofCaptureReader *reader,
                                           const char *name,
                                           SysprofCaptureUnpackFunc unpack,
                                           AssembledFile *packed);

/* Writes all chunks with the same time. False with errno set on failure. */
bool sysprof_assembled_file_write (const AssembledFile *self,
                                   SysprofCaptureWriter *writer,
                                   int64_t time,
                                   const char *path);
